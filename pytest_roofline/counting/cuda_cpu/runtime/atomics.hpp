// Atomics, fences and polling. One operating-system thread runs everything, so a plain update is atomic; what matters is
// that the shadow knows it as one.
#pragma once

#include "scheduler.hpp"

namespace roofline {

constexpr u32 kPollsBeforeYield = 4;

// The thread looks at memory again and again: let the others run, they may be about to change it.
inline void poll(u64 pc) {
    Thread& t = *current;
    t.polling = true;
    t.status = Status::ready;
    t.operand = pc;
    wait();
}

inline void strong_access(u64 address, u32 size, u32 flags, u64 return_address) {
    Thread* t = current;
    if (!t) return;
    const bool writes = flags & kWrite, reads = !writes || (flags & kAtomic);
    if (launch.flags & kCheckRaces) {
        const bool fenced = t->fence.set || !block_fences.empty();
        if (writes && fenced) flags |= kReleasing;
        // Acquire first: what the access reads may order it after the last writer.
        synchronise(address, reads, false, false, false);
        access(address, size, flags, return_address);
        if (writes) synchronise(address, reads, true, address - shared.low < shared.length, flags & kBlockScope);
    } else if (launch.flags) {
        access(address, size, flags, return_address);
    }
}

}  // namespace roofline

RL_API void rl_fence(int device) {
    if (roofline::current) roofline::fence(device);
}

RL_API void rl_poll() {
    if (roofline::current) roofline::poll(roofline::relative(RL_CALLER));
}

// The old value of an atomic read-modify-write on `size` bytes.
RL_API uint64_t rl_atomic_begin(const void* p, uint32_t size, int block_scope) {
    const uint64_t address = reinterpret_cast<uint64_t>(p);
    roofline::strong_access(address, size, roofline::kWrite | roofline::kAtomic | (block_scope ? uint32_t{roofline::kBlockScope} : 0u), RL_CALLER);
    uint64_t value = 0;
    __builtin_memcpy(&value, p, size);
    return value;
}

// Stores its new value. An update that changes nothing may be a lock that is taken: let the others run.
RL_API void rl_atomic_end(void* p, uint32_t size, uint64_t value, int may_poll) {
    uint64_t old = 0;
    __builtin_memcpy(&old, p, size);
    __builtin_memcpy(p, &value, size);
    if (may_poll && old == value) roofline::poll(roofline::relative(RL_CALLER));
}
