// Named barriers (bar.sync and bar.arrive with a number): some warps of a block meet, the others go on.
#pragma once

#include "scheduler.hpp"

namespace roofline {

constexpr u32 kNamedBarriers = 16;

struct NamedBarrier {
    u32 arrived = 0, expected = 0;
    Lessons known;   // to those that have arrived
    Known acquired;  // by them, of other blocks
};

inline NamedBarrier named_barriers[kNamedBarriers];

inline void forget_named_barriers() {
    if (lessons.empty()) return;
    lessons.clear();
    std::fill(named_barriers, named_barriers + kNamedBarriers, NamedBarrier{});
}

RL_COLD inline void bad_named_barrier(const Site& site, const char* text) {
    Place place;
    place.site = site;
    report(Kind::divergent_barrier, place, true, "%s", text);
}

// What this thread and its warp have done and know, the others will know. The warp's part: once, by its first lane.
inline void tell(NamedBarrier& barrier, Thread& t) {
    if (lessons.empty()) lessons.resize(kMaxThreads / kWarp);
    if (barrier.known.epoch != launch.epoch) barrier.known = {launch.epoch, {}};
    barrier.acquired = join(barrier.acquired, t.known);
    warps[t.warp].clocks[t.lane][t.lane] = ++t.clock;
    warps[t.warp].ordered = true;
    barrier.known.below[t.linear] = t.clock;
    if (t.lane == static_cast<u32>(__builtin_ctz(warps[t.warp].alive))) learn(barrier.known, lessons[t.warp]);
}

inline void open_named_barrier(u32 id, const Thread* last) {
    for (u32 i = 0; i < launch.threads; ++i) {
        Thread& t = threads[i];
        const bool waits = t.status == Status::named && t.operand == id;
        if (!waits && &t != last) continue;
        if (&t == last || t.lane == 0) learn(lessons[t.warp], named_barriers[id].known);
        t.known = join(t.known, named_barriers[id].acquired);
        if (waits) t.status = Status::ready;
    }
    named_barriers[id].arrived = named_barriers[id].expected = 0;
}

// `count` threads, the calling one among them, make the barrier open; 0: all of the block. Who only arrives learns nothing.
inline void join_named_barrier(u32 id, u32 count, bool waits, Site site) {
    Thread& t = *current;
    if (id >= kNamedBarriers) bad_named_barrier(site, "a block has 16 named barriers, 0 to 15");
    if (count % kWarp) bad_named_barrier(site, "the threads of a named barrier are whole warps: a multiple of 32");
    if (!count) count = launch.warps * kWarp;
    NamedBarrier& barrier = named_barriers[id];
    if (barrier.arrived && barrier.expected != count)
        bad_named_barrier(site, "the threads at a named barrier disagree about their number");
    barrier.expected = count;
    t.site = site;
    tell(barrier, t);
    if (++barrier.arrived == count) {
        open_named_barrier(id, waits ? &t : nullptr);  // who only arrives wakes the others, and learns nothing
        return;
    }
    if (!waits) return;
    t.operand = id;
    t.status = Status::named;
    wait();
}

}  // namespace roofline

RL_API void rl_named_barrier(uint32_t id, uint32_t count, int waits, int line, const char* file) {
    roofline::join_named_barrier(id, count, waits, {file, line});
}
