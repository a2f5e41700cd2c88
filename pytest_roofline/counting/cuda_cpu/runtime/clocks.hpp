// What happened before what. A stamp names one access: block, thread, barrier epoch of the block, clock of the lane.
//
// Inside a block, barriers order everything (epoch) and __syncwarp orders lanes (vector clocks of 32 lanes). Beyond that
// only the CUDA memory model's release and acquire do: a fence followed by an atomic or volatile store releases what came
// before the fence; an atomic or volatile load of that location acquires it, through a chain of read-modify-writes too.
#pragma once

#include <memory>

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
RL_HOT u64 this_block() { return (launch.block + 1) & ((1u << kBlockBits) - 1); }
RL_HOT bool earlier(u16 a, u16 b) { return static_cast<int16_t>(a - b) < 0; }

// The fences of all threads of a block before one of its barriers: after it, any of them may publish for all.
struct FenceSet {
    u16 epoch = 0;
    bool device = true;
    u16 bound[kMaxThreads] = {};  // accesses of the thread below this clock are fenced
};

struct Release {
    u64 block;
    u32 thread;
    Fence fence;
    bool block_scope;
    std::vector<std::shared_ptr<FenceSet>> sets;
};

inline std::vector<std::shared_ptr<FenceSet>> block_fences;

// Which releases of a variable have been looked at for a question, at least this deep.
struct Asked {
    u64 question = 0;
    u32 from = 0, to = 0;
    int depth = 0;
};

inline u64 question = 0;  // the number of the one that is being answered

// A location used for synchronisation: the releases that reading it acquires, in the order of its modification.
struct SyncVariable {
    std::vector<Release> releases;
    std::unordered_map<u64, std::vector<u32>> by_block;
    u32 head = 0;  // a plain store ends the release sequences before it
    bool in_shared = false;
    Asked asked;
};

inline std::unordered_map<u64, SyncVariable*> sync_variables;
// All of the launch: what a release knows may name one of a block that has ended.
inline std::vector<std::unique_ptr<SyncVariable>> all_variables;

inline SyncVariable* new_variable(u64 address, bool in_shared) {
    all_variables.push_back(std::make_unique<SyncVariable>());
    SyncVariable* const variable = all_variables.back().get();
    variable->in_shared = in_shared;
    return sync_variables[address] = variable;
}

inline void forget_sync() {
    sync_variables.clear();
    all_variables.clear();
}

inline void forget_shared_sync() {
    std::erase_if(sync_variables, [](const auto& entry) { return entry.second->in_shared; });
}

inline void merge_acquired(std::vector<Acquired>& into, const std::vector<Acquired>& from) {
    for (const Acquired& a : from) {
        bool found = false;
        for (Acquired& b : into) {
            if (b.variable != a.variable || a.from > b.to || b.from > a.to) continue;
            b.from = std::min(a.from, b.from);
            b.to = std::max(a.to, b.to);
            found = true;
            break;
        }
        if (!found) into.push_back(a);
    }
}

inline bool covers(const Release& r, Stamp s) {
    const u32 thread = thread_of(s);
    const bool same_block = r.block == this_block();
    for (const auto& set : r.sets) {
        if ((same_block || (set->device && !r.block_scope)) && set->epoch == epoch_of(s) &&
            earlier(clock_of(s), set->bound[thread]))
            return true;
    }
    if (!r.fence.set || (!same_block && (!r.fence.device || r.block_scope))) return false;
    if (earlier(epoch_of(s), r.fence.epoch)) return true;
    if (epoch_of(s) != r.fence.epoch) return false;
    if (thread == r.thread) return !earlier(r.fence.clock, clock_of(s));
    return thread / kWarp == r.thread / kWarp && earlier(clock_of(s), r.fence.warp_clocks[thread % kWarp]);
}

inline bool knows(const std::vector<Acquired>& acquired, Stamp s, int depth);

// Does the state at one of the releases [from, to) of a variable include the access `s`?
inline bool knows(SyncVariable& variable, u32 from, u32 to, Stamp s, int depth) {
    if (from >= to) return false;
    const auto found = variable.by_block.find(block_of(s));
    if (found != variable.by_block.end()) {
        const std::vector<u32>& positions = found->second;
        for (auto at = std::lower_bound(positions.begin(), positions.end(), from); at != positions.end() && *at < to; ++at)
            if (covers(variable.releases[*at], s)) return true;
    }
    if (depth == 0) return false;
    for (u32 position = from; position < to; ++position) {
        const Release& r = variable.releases[position];
        if (!r.fence.acquired.empty() && knows(r.fence.acquired, s, depth - 1)) return true;
    }
    return false;
}

// Does what was acquired include the access `s`? Looks through a few nested acquisitions. Whoever takes a lock has
// acquired what all before acquired, so the same releases come up again and again: each is looked at once a question.
inline bool knows(const std::vector<Acquired>& acquired, Stamp s, int depth) {
    for (const Acquired& a : acquired) {
        Asked& asked = a.variable->asked;
        const bool again = asked.question == question && asked.depth >= depth && a.from <= asked.to && asked.from <= a.to;
        const Asked before = again ? asked : Asked{question, a.to, a.to, depth};
        asked = {question, std::min(a.from, again ? before.from : a.from), std::max(a.to, again ? before.to : a.to), depth};
        if (knows(*a.variable, a.from, std::min(before.from, a.to), s, depth)) return true;
        if (again && knows(*a.variable, std::max(before.to, a.from), a.to, s, depth)) return true;
    }
    return false;
}

// What named barriers have taught the warps of this block since its last barrier of all: the accesses of a thread below a
// clock happened before.
struct Lessons {
    u16 epoch = 0;
    u16 below[kMaxThreads] = {};
};

inline std::vector<Lessons> lessons;  // by warp; empty: the block has used no named barrier

// Did the access `old` happen before what thread `t` does now?
RL_HOT bool happened_before(const Thread& t, Stamp old) {
    if (block_of(old) == this_block()) {
        const u32 thread = thread_of(old);
        if (thread == t.linear || epoch_of(old) != launch.epoch) return true;
        if (thread / kWarp == t.warp && earlier(clock_of(old), warps[t.warp].clocks[t.lane][thread % kWarp])) return true;
        if (!lessons.empty() && lessons[t.warp].epoch == launch.epoch && earlier(clock_of(old), lessons[t.warp].below[thread]))
            return true;
    }
    if (t.acquired.empty() && launch.block_acquired.empty()) return false;
    ++question;
    return knows(t.acquired, old, 3) || knows(launch.block_acquired, old, 3);
}

// Into `to`, unless that is of an epoch before, whatever `from` knows.
inline void learn(Lessons& to, const Lessons& from) {
    if (from.epoch != launch.epoch) return;
    if (to.epoch != launch.epoch) to = {launch.epoch, {}};
    for (u32 i = 0; i < launch.threads; ++i) to.below[i] = std::max(to.below[i], from.below[i]);
}

inline void fence(bool device) {
    Thread& t = *current;
    Fence& f = t.fence;
    launch.fenced = true;
    f.device = device || (f.set && f.device && f.epoch == launch.epoch && f.clock + 1 == t.clock);
    f.set = true;
    f.epoch = launch.epoch;
    f.clock = t.clock;
    std::memcpy(f.warp_clocks, warps[t.warp].clocks[t.lane], sizeof f.warp_clocks);
    f.acquired = t.acquired;
    merge_acquired(f.acquired, launch.block_acquired);
    ++t.clock;
    warps[t.warp].clocks[t.lane][t.lane] = t.clock;
    warps[t.warp].ordered = true;
}

// The synchronising effect of an atomic or volatile access.
inline void synchronise(u64 address, bool reads, bool writes, bool in_shared, bool block_scope) {
    Thread& t = *current;
    const auto found = sync_variables.find(address);
    SyncVariable* variable = found == sync_variables.end() ? nullptr : found->second;
    if (variable && reads && variable->head < variable->releases.size()) {
        launch.fenced = true;
        merge_acquired(t.acquired, {{variable, variable->head, static_cast<u32>(variable->releases.size())}});
    }
    if (!writes) return;
    if (variable && !reads) variable->head = static_cast<u32>(variable->releases.size());
    if (!t.fence.set && block_fences.empty()) return;
    if (!variable) variable = new_variable(address, in_shared);
    Release release{this_block(), t.linear, t.fence, block_scope, block_fences};
    variable->by_block[this_block()].push_back(static_cast<u32>(variable->releases.size()));
    variable->releases.push_back(std::move(release));
}

// __syncthreads: what the threads fenced, any of them may release from now on; what they acquired, all know.
inline void join_block() {
    if (!launch.fenced) return;
    std::shared_ptr<FenceSet> set;
    for (u32 i = 0; i < launch.threads; ++i) {
        Thread& t = threads[i];
        if (!t.acquired.empty()) {
            merge_acquired(launch.block_acquired, t.acquired);
            t.acquired.clear();
        }
        if (!t.fence.set || t.fence.epoch != launch.epoch) continue;
        if (!set) {
            set = std::make_shared<FenceSet>();
            set->epoch = launch.epoch;
        }
        set->bound[i] = static_cast<u16>(t.fence.clock + 1);
        set->device &= t.fence.device;
    }
    if (set) block_fences.push_back(std::move(set));
}

// __syncwarp: every lane of `mask` learns what the others know.
inline void join_lanes(Warp& warp, Thread* lanes, u32 mask) {
    u16 joined[kWarp], fenced[kWarp] = {};
    warp.ordered = true;
    bool first = true;
    std::vector<Acquired> acquired;
    for (u32 l = 0; l < warp.size; ++l) {
        if (!(mask >> l & 1)) continue;
        warp.clocks[l][l] = ++lanes[l].clock;
        for (u32 k = 0; k < kWarp; ++k) {
            if (first || earlier(joined[k], warp.clocks[l][k])) joined[k] = warp.clocks[l][k];
        }
        first = false;
        if (lanes[l].fence.set && lanes[l].fence.epoch == launch.epoch) {
            fenced[l] = std::max(fenced[l], static_cast<u16>(lanes[l].fence.clock + 1));
            for (u32 k = 0; k < kWarp; ++k) fenced[k] = std::max(fenced[k], lanes[l].fence.warp_clocks[k]);
        }
        if (!lanes[l].acquired.empty()) merge_acquired(acquired, lanes[l].acquired);
    }
    for (u32 l = 0; l < warp.size; ++l) {
        if (!(mask >> l & 1)) continue;
        std::memcpy(warp.clocks[l], joined, sizeof joined);
        Fence& f = lanes[l].fence;
        if (f.set && f.epoch == launch.epoch) std::memcpy(f.warp_clocks, fenced, sizeof fenced);
        if (!acquired.empty()) lanes[l].acquired = acquired;
    }
}

}  // namespace roofline
