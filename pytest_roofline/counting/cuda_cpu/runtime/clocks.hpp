// What happened before what. A stamp names one access: block, thread, barrier epoch of the block, clock of the lane.
//
// Inside a block, barriers order everything (epoch) and __syncwarp orders lanes (vector clocks of 32 lanes). Beyond that
// only the CUDA memory model's release and acquire do: a fence followed by an atomic or volatile store releases what came
// before the fence; an atomic or volatile load of that location acquires it, through a chain of read-modify-writes too.
#pragma once

#include "memory.hpp"

namespace roofline {

using Stamp = u64;

constexpr u32 kBlockBits = 22;

RL_HOT Stamp stamp_of(const Thread& t) {
    return (launch.block + 1) << 42 | static_cast<u64>(t.linear) << 32 | static_cast<u64>(launch.epoch) << 16 | t.clock;
}
RL_HOT u64 block_of(Stamp s) { return s >> 42; }  // plus one; zero: no access
RL_HOT u32 thread_of(Stamp s) { return s >> 32 & 1023; }
RL_HOT u16 epoch_of(Stamp s) { return static_cast<u16>(s >> 16); }
RL_HOT u16 clock_of(Stamp s) { return static_cast<u16>(s); }
RL_HOT u32 this_block() { return static_cast<u32>(launch.block + 1) & ((1u << kBlockBits) - 1); }

// A location used for synchronisation: what reading it acquires. Read-modify-writes add to it, a plain store starts anew.
struct SyncVariable {
    Known device;                             // by all blocks
    std::unordered_map<u32, Known> in_block;  // by the releasing block only, of a narrower fence or atomic
    u32 stores = 0;
};

inline std::unordered_map<u64, SyncVariable> sync_variables;
inline std::unordered_map<u64, SyncVariable> shared_variables;  // of the running block, in its shared memory

// What named barriers have taught the warps of this block since its last barrier of all: the accesses of a thread below a
// clock happened before.
struct Lessons {
    u16 epoch = 0;
    u16 below[kMaxThreads] = {};
};

inline std::vector<Lessons> lessons;  // by warp; empty: the block has used no named barrier

RL_COLD inline bool knows(const Known& known, Stamp s) {
    return includes(known, static_cast<u32>(block_of(s)), thread_of(s), epoch_of(s), clock_of(s));
}

// Did the access `old` happen before what thread `t` does now?
RL_HOT bool happened_before(const Thread& t, Stamp old) {
    if (block_of(old) == this_block()) {
        const u32 thread = thread_of(old);
        if (thread == t.linear || epoch_of(old) != launch.epoch) return true;
        if (thread / kWarp == t.warp && earlier(clock_of(old), warps[t.warp].clocks[t.lane][thread % kWarp])) return true;
        if (!lessons.empty() && lessons[t.warp].epoch == launch.epoch && earlier(clock_of(old), lessons[t.warp].below[thread]))
            return true;
    }
    return (t.known && knows(t.known, old)) || (launch.known && knows(launch.known, old));
}

// Into `to`, unless that is of an epoch before, whatever `from` knows.
inline void learn(Lessons& to, const Lessons& from) {
    if (from.epoch != launch.epoch) return;
    if (to.epoch != launch.epoch) to = {launch.epoch, {}};
    for (u32 i = 0; i < launch.threads; ++i) to.below[i] = std::max(to.below[i], from.below[i]);
}

// What the thread knows of others but for its warp's clocks.
inline Known learnt(const Thread& t) {
    Known known = join(launch.known, t.known);
    if (lessons.empty() || lessons[t.warp].epoch != launch.epoch) return known;
    std::vector<u32> bounds;
    for (u32 i = 0; i < launch.threads; ++i)
        if (lessons[t.warp].below[i]) bounds.push_back(bound(i, lessons[t.warp].below[i]));
    return join(known, known_of_block(this_block(), launch.epoch, std::move(bounds)));
}

inline void fence(bool device) {
    Thread& t = *current;
    launch.fenced = true;
    Fence& f = t.fences[kBlockFence];
    f.set = true;
    f.epoch = launch.epoch;
    f.clock = t.clock;
    std::memcpy(f.warp_clocks, warps[t.warp].clocks[t.lane], sizeof f.warp_clocks);
    f.known = learnt(t);
    f.released.reset();
    if (device) t.fences[kDeviceFence] = f;
    ++t.clock;
    warps[t.warp].clocks[t.lane][t.lane] = t.clock;
    warps[t.warp].ordered = true;
}

// What a release by the thread tells: all that was there at its fence, and what the block had fenced before its barriers.
inline Known released(Thread& t, int scope) {
    Fence& f = t.fences[scope];
    if (!f.set) return launch.fences[scope];
    if (f.released && f.released_epoch == launch.epoch) return f.released;
    std::vector<u32> bounds;
    for (u32 k = 0; k < kWarp; ++k) {
        const u16 clock = k == t.lane ? static_cast<u16>(f.clock + 1) : f.warp_clocks[k];
        if (clock) bounds.push_back(bound(t.warp * kWarp + k, clock));
    }
    f.released = join(join(f.known, known_of_block(this_block(), f.epoch, std::move(bounds))), launch.fences[scope]);
    f.released_epoch = launch.epoch;
    return f.released;
}

inline std::unordered_map<u64, SyncVariable>& variables_at(u64 address) {
    return address - shared.low < shared.length ? shared_variables : sync_variables;
}

// A thread that polls acquires the same again and again: `latest` is looked at before the whole.
inline void acquire(u64 address) {
    Thread& t = *current;
    const auto& variables = variables_at(address);
    const auto found = variables.find(address);
    if (found == variables.end()) return;
    const SyncVariable& variable = found->second;
    if (variable.device && variable.device != t.latest) {
        launch.fenced = true;
        t.latest = variable.device;
        t.known = join(t.known, variable.device);
    }
    if (variable.in_block.empty()) return;
    const auto own = variable.in_block.find(this_block());
    if (own == variable.in_block.end()) return;
    launch.fenced = true;
    t.known = join(t.known, own->second);
}

inline bool has_fenced(const Thread& t) { return t.fences[kBlockFence].set || launch.fences[kBlockFence]; }

// An atomic or volatile store; `continues`: of an atomic that has read the location too.
inline void release(u64 address, bool continues, bool block_scope) {
    Thread& t = *current;
    auto& variables = variables_at(address);
    auto found = variables.find(address);
    if (found != variables.end() && !continues) {
        const u32 stores = found->second.stores + 1;
        found->second = {};
        found->second.stores = stores;
    }
    if (!has_fenced(t)) return;
    const Known to_block = released(t, kBlockFence), to_device = block_scope ? nullptr : released(t, kDeviceFence);
    if (found == variables.end()) found = variables.try_emplace(address).first;
    SyncVariable& variable = found->second;
    const Released now{address, variable.stores, to_block, to_device};
    if (now == t.last_release) return;
    t.last_release = now;
    variable.device = join(variable.device, to_device);
    if (to_block == to_device) return;
    Known& own = variable.in_block[this_block()];
    own = join(own, to_block);
}

// __syncthreads: what the threads fenced, any of them may release from now on; what they acquired, all know.
inline void join_block() {
    if (!launch.fenced) return;
    for (u32 i = 0; i < launch.threads; ++i) {
        Thread& t = threads[i];
        if (!t.known) continue;
        launch.known = join(launch.known, t.known);
        t.known.reset();
    }
    for (int scope = 0; scope < kScopes; ++scope) {
        std::vector<u32> bounds;
        Known known;
        for (u32 i = 0; i < launch.threads; ++i) {
            const Fence& f = threads[i].fences[scope];
            if (!f.set || f.epoch != launch.epoch) continue;
            bounds.push_back(bound(i, static_cast<u16>(f.clock + 1)));
            known = join(known, f.known);
        }
        if (bounds.empty()) continue;
        known = join(known, known_of_block(this_block(), launch.epoch, std::move(bounds)));
        launch.fences[scope] = join(launch.fences[scope], known);
    }
}

// The fences of lanes that meet: each may release what any of them has fenced.
inline void join_fences(Thread* lanes, u32 mask, int scope) {
    u16 clocks[kWarp] = {};
    Known known;
    const auto counts = [&](u32 l) {
        const Fence& f = lanes[l].fences[scope];
        return (mask >> l & 1) && f.set && f.epoch == launch.epoch;
    };
    for (u32 l = 0; l < kWarp; ++l) {
        if (!counts(l)) continue;
        const Fence& f = lanes[l].fences[scope];
        clocks[l] = std::max(clocks[l], static_cast<u16>(f.clock + 1));
        for (u32 k = 0; k < kWarp; ++k) clocks[k] = std::max(clocks[k], f.warp_clocks[k]);
        known = join(known, f.known);
    }
    for (u32 l = 0; l < kWarp; ++l) {
        if (!counts(l)) continue;
        Fence& f = lanes[l].fences[scope];
        std::memcpy(f.warp_clocks, clocks, sizeof clocks);
        f.known = known;
        f.released.reset();
    }
}

// __syncwarp: every lane of `mask` learns what the others know.
inline void join_lanes(Warp& warp, Thread* lanes, u32 mask) {
    u16 joined[kWarp];
    warp.ordered = true;
    bool first = true;
    Known known;
    for (u32 l = 0; l < warp.size; ++l) {
        if (!(mask >> l & 1)) continue;
        warp.clocks[l][l] = ++lanes[l].clock;
        for (u32 k = 0; k < kWarp; ++k) {
            if (first || earlier(joined[k], warp.clocks[l][k])) joined[k] = warp.clocks[l][k];
        }
        first = false;
        known = join(known, lanes[l].known);
    }
    for (u32 l = 0; l < warp.size; ++l) {
        if (!(mask >> l & 1)) continue;
        std::memcpy(warp.clocks[l], joined, sizeof joined);
        if (known) lanes[l].known = known;
    }
    if (!launch.fenced) return;
    for (int scope = 0; scope < kScopes; ++scope) join_fences(lanes, mask, scope);
}

}  // namespace roofline
