// Atomics, fences and polling. One operating-system thread runs everything, so a plain update is atomic; what matters is
// that the shadow knows it as one.
#pragma once

#include "residents.hpp"

namespace roofline {

constexpr u32 kPatientUpdates = 64;

// Others may be waiting for what the thread has stored.
inline void note_change() { launch.has_published = current->has_published = true; }

// The thread looks at memory again and again: let the others run, they may be about to change it. It gets nowhere if it has
// changed nothing since its last turn and looks where it has just looked.
inline void poll(u64 pc, u64 address) {
    Thread& t = *current;
    const u64 place = pc * 0x9E3779B97F4A7C15ull ^ address;
    const bool again = std::find(t.polls, t.polls + kRecentPolls, place) != t.polls + kRecentPolls;
    if (!again) t.polls[t.next_poll++ % kRecentPolls] = place;
    t.polling = again && !t.has_published;
    t.status = Status::ready;
    t.operand = pc;
    wait();
}

inline void strong_access(u64 address, u32 size, u32 flags, u64 return_address, u32 piece = 0) {
    Thread* t = current;
    if (!t) return;
    const bool writes = flags & kWrite, reads = !writes || (flags & kAtomic);
    if (launch.spec->order == kInterleaved) may_set_aside(address);
    if (launch.spec->order >= kRandom) may_pause();
    if (writes && !(flags & kAtomic)) note_change();
    if (launch.flags & kCheckRaces) {
        if (writes && has_fenced(*t)) flags |= kReleasing;
        const bool on_chip = address - shared.low < shared.length;
        if (!on_chip && (flags & kVolatile)) launch.uses_volatile = true;
        // Acquire first: what the access reads may order it after the last writer.
        if (reads) acquire(address);
        access(address, size, flags, return_address, piece);
        if (!on_chip && launch.uses_volatile) {
            if (reads) note_strong_read(*t, address, size, flags & kAtomic, relative(return_address));
            if (writes) note_strong_write(*t, address, relative(return_address));
        }
        if (writes) release(address, reads, flags & kBlockScope);
    } else if (launch.flags) {
        access(address, size, flags, return_address, piece);
    }
}

}  // namespace roofline

RL_API void rl_fence(int device) {
    if (roofline::current) roofline::fence(device);
}

RL_API void rl_poll() {
    if (roofline::current) roofline::poll(roofline::relative(RL_CALLER), 0);
}

// A clock that goes on each time it is looked at, so that who waits by it comes to an end, and others run meanwhile.
RL_API int64_t rl_ticks() {
    using namespace roofline;
    launch.ticks += 512;
    if (current) poll(relative(RL_CALLER), static_cast<u64>(launch.ticks));
    return launch.ticks;
}

// The old value of an atomic read-modify-write on `size` bytes. `kind`: 1 of block scope, 2 times what it is made of.
RL_API uint64_t rl_atomic_begin(const void* p, uint32_t size, int kind) {
    using namespace roofline;
    const uint64_t address = reinterpret_cast<uint64_t>(p);
    const uint32_t scope = kind & 1 ? uint32_t{kBlockScope} : 0u;
    strong_access(address, size, kWrite | kAtomic | scope, RL_CALLER, static_cast<uint32_t>(kind) >> 1);
    uint64_t value = 0;
    __builtin_memcpy(&value, p, size);
    return value;
}

// Stores its new value. An update that changes nothing may be a lock that is taken: let the others run. Of a minimum or
// maximum that is rarely so.
RL_API void rl_atomic_end(void* p, uint32_t size, uint64_t value, int may_poll) {
    uint64_t old = 0;
    __builtin_memcpy(&old, p, size);
    __builtin_memcpy(p, &value, size);
    if (!roofline::current) return;
    if (old != value) {
        roofline::note_change();
    } else if (may_poll || ++roofline::current->idle_updates % roofline::kPatientUpdates == 0) {
        roofline::poll(roofline::relative(RL_CALLER), reinterpret_cast<uint64_t>(p));
    }
}

// The result of an atomic that counts up is used: called only where it is, because the compiler takes this for a pure
// function. Which place that is, the thread's last such access to `p` tells.
RL_API uint64_t rl_used(uint64_t result, const void* p) {
    using namespace roofline;
    if (current && (launch.flags & kCount)) {
        const Log& log = current->log;
        size_t address = log.addressed();
        for (size_t i = log.size(); i-- > 0;) {
            const Event event = log.events()[i];
            if (space_of(event) == Space::block) continue;
            --address;
            if (piece_of(event) != kCounts || log.addresses()[address] != reinterpret_cast<uint64_t>(p)) continue;
            used_results.insert(pc_of(event));
            break;
        }
    }
    return result;
}
