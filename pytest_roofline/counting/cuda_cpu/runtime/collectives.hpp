// Warp collectives: a lane waits until all lanes of its mask have arrived at the same place, then one call serves all.
#pragma once

#include "counters.hpp"

namespace roofline {

inline const char* const kCollectiveNames[] = {
    "__syncwarp",         "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
    "__ballot_sync",      "__any_sync",        "__all_sync",        "__reduce_add_sync", "__reduce_min_sync",
    "__reduce_max_sync",  "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync", "__match_any_sync",
    "__match_all_sync",   "__activemask",      "warp-wide matrix operation"};

inline const char* name_of(Collective c) { return kCollectiveNames[static_cast<u32>(c)]; }

inline Thread* lanes_of_warp(u32 warp) { return &threads[warp * kWarp]; }

RL_COLD inline void report_lane(Thread& lane, Kind kind, const Site& site, const char* text) {
    Thread* const saved = current;
    current = &lane;
    Place place;
    place.site = site;
    report(kind, place, false, "%s", text);
    current = saved;
}

// The lane that lane `l` reads from in a shuffle.
inline u32 source_lane(const Thread& t, u32 l) {
    const int width = t.width, base = static_cast<int>(l) & ~(width - 1), end = base + width;
    int source = static_cast<int>(l);
    switch (t.collective) {
        case Collective::shfl: source = base + (t.argument & (width - 1)); break;
        case Collective::shfl_up: source -= t.argument; break;
        case Collective::shfl_down: source += t.argument; break;
        default: source ^= t.argument; break;
    }
    // Past the segment a lane keeps its own value; xor may reach into lower segments.
    const int lowest = t.collective == Collective::shfl_xor ? 0 : base;
    return static_cast<u32>(source < lowest || source >= end ? static_cast<int>(l) : source);
}

inline void shuffle(const Warp& warp, Thread* lanes, const Pending& p) {
    for (u32 l = 0; l < warp.size; ++l) {
        if (!(p.arrived >> l & 1)) continue;
        const u32 source = source_lane(lanes[l], l);
        if (p.arrived >> source & 1) {
            lanes[l].result = lanes[source].operand;
            continue;
        }
        char text[200];
        std::snprintf(text, sizeof text, "%s: lane %u reads lane %u, which %s", name_of(p.collective), l, source,
                      source >= warp.size           ? "does not exist in this block"
                      : !(p.mask >> source & 1)     ? "is not in the mask"
                                                    : "has returned from the kernel");
        report_lane(lanes[l], Kind::inactive_lane, p.site, text);
        lanes[l].result = ~0ull;
    }
}

inline void vote(const Warp& warp, Thread* lanes, const Pending& p) {
    u32 ballot = 0;
    for (u32 l = 0; l < warp.size; ++l)
        if ((p.arrived >> l & 1) && lanes[l].operand) ballot |= 1u << l;
    const u64 result = p.collective == Collective::ballot ? ballot
                       : p.collective == Collective::any  ? ballot != 0
                                                          : ballot == p.arrived;
    for (u32 l = 0; l < warp.size; ++l)
        if (p.arrived >> l & 1) lanes[l].result = result;
}

inline void reduce(const Warp& warp, Thread* lanes, const Pending& p) {
    bool first = true;
    u32 value = 0;
    for (u32 l = 0; l < warp.size; ++l) {
        if (!(p.arrived >> l & 1)) continue;
        const u32 v = static_cast<u32>(lanes[l].operand);
        const bool less = lanes[l].reduce_signed ? static_cast<int>(v) < static_cast<int>(value) : v < value;
        switch (p.collective) {
            case Collective::reduce_add: value = first ? v : value + v; break;
            case Collective::reduce_min: value = first || less ? v : value; break;
            case Collective::reduce_max: value = first || !less ? v : value; break;
            case Collective::reduce_and: value = first ? v : value & v; break;
            case Collective::reduce_or: value = first ? v : value | v; break;
            default: value = first ? v : value ^ v; break;
        }
        first = false;
    }
    for (u32 l = 0; l < warp.size; ++l)
        if (p.arrived >> l & 1) lanes[l].result = value;
}

inline void match(const Warp& warp, Thread* lanes, const Pending& p) {
    for (u32 l = 0; l < warp.size; ++l) {
        if (!(p.arrived >> l & 1)) continue;
        u32 equal = 0;
        for (u32 k = 0; k < warp.size; ++k)
            if ((p.arrived >> k & 1) && lanes[k].operand == lanes[l].operand) equal |= 1u << k;
        lanes[l].result = p.collective == Collective::match_any || equal == p.arrived ? equal : 0;
    }
}

inline void run_lanes(const Warp& warp, Thread* lanes, const Pending& p) {
    void* data[kWarp] = {};
    LanesFunction function = nullptr;
    for (u32 l = 0; l < warp.size; ++l) {
        if (!(p.arrived >> l & 1)) continue;
        data[l] = lanes[l].lane_data;
        function = lanes[l].lanes_function;
    }
    if (p.arrived != ~0u) {
        report_lane(lanes[__builtin_ctz(p.arrived)], Kind::warp_matrix, p.site,
                    "a matrix operation needs all 32 lanes of the warp");
        return;
    }
    Thread* const saved = current;
    current = nullptr;
    function(data, p.arrived);
    current = saved;
    if (launch.abort && current) abandon();
}

inline void perform(u32 warp_index, const Pending& p) {
    Warp& warp = warps[warp_index];
    Thread* lanes = lanes_of_warp(warp_index);
    ++launch.totals.collectives;
    switch (p.collective) {
        case Collective::syncwarp: join_lanes(warp, lanes, p.arrived); break;
        case Collective::shfl:
        case Collective::shfl_up:
        case Collective::shfl_down:
        case Collective::shfl_xor: shuffle(warp, lanes, p); break;
        case Collective::ballot:
        case Collective::any:
        case Collective::all: vote(warp, lanes, p); break;
        case Collective::match_any:
        case Collective::match_all: match(warp, lanes, p); break;
        case Collective::active_mask:
            for (u32 l = 0; l < warp.size; ++l)
                if (p.arrived >> l & 1) lanes[l].result = p.arrived;
            break;
        case Collective::lanes: run_lanes(warp, lanes, p); break;
        default: reduce(warp, lanes, p); break;
    }
    if (p.arrived == warp.alive) count_warp(warp_index);
    for (u32 l = 0; l < warp.size; ++l)
        if ((p.arrived >> l & 1) && lanes[l].status == Status::collective) lanes[l].status = Status::ready;
}

inline void join_collective(u32 mask, Collective collective, Site site) {
    Thread& t = *current;
    Warp& warp = warps[t.warp];
    const u32 lane = 1u << t.lane;
    if (collective != Collective::active_mask && !(mask & lane)) {
        Place place;
        place.site = site;
        report(Kind::wrong_mask, place, true, "%s: the calling lane %u is not in its own mask 0x%08x", name_of(collective), t.lane,
               mask);
    }
    t.collective = collective;
    t.mask = mask;
    t.site = site;
    Pending* pending = nullptr;
    for (Pending& p : warp.pending)
        if (p.mask == mask && p.collective == collective && p.site == site) pending = &p;
    if (!pending) {
        warp.pending.push_back({mask, 0, collective, site});
        pending = &warp.pending.back();
    }
    pending->arrived |= lane;
    if (collective != Collective::active_mask && (mask & warp.alive & ~pending->arrived) == 0) {
        const Pending complete = *pending;
        warp.pending.erase(warp.pending.begin() + (pending - warp.pending.data()));
        perform(t.warp, complete);
        return;
    }
    t.status = Status::collective;
    wait();
}

// __activemask answers when no lane of the warp can run any further: then who waits here has converged.
inline bool resolve_active_mask(u32 warp_index) {
    Warp& warp = warps[warp_index];
    for (size_t i = 0; i < warp.pending.size(); ++i) {
        if (warp.pending[i].collective != Collective::active_mask) continue;
        const Pending p = warp.pending[i];
        warp.pending.erase(warp.pending.begin() + static_cast<std::ptrdiff_t>(i));
        perform(warp_index, p);
        return true;
    }
    return false;
}

// A lane has returned: collectives that waited for it are complete now.
inline void leave_warp(Thread& t) {
    Warp& warp = warps[t.warp];
    warp.alive &= ~(1u << t.lane);
    for (size_t i = 0; i < warp.pending.size();) {
        const Pending p = warp.pending[i];
        if (p.collective != Collective::active_mask && (p.mask & warp.alive & ~p.arrived) == 0) {
            warp.pending.erase(warp.pending.begin() + static_cast<std::ptrdiff_t>(i));
            perform(t.warp, p);
        } else {
            ++i;
        }
    }
    if (!warp.alive) count_warp(t.warp);
}

}  // namespace roofline

RL_API void rl_syncwarp(uint32_t mask, int line, const char* file) {
    roofline::join_collective(mask, roofline::Collective::syncwarp, {file, line});
}

RL_API uint64_t rl_shuffle(uint32_t mask, uint64_t value, int argument, int width, uint32_t collective, int line, const char* file) {
    roofline::Thread& t = *roofline::current;
    t.operand = value;
    t.argument = argument;
    t.width = width;
    if (width < 1 || width > 32 || (width & (width - 1))) {
        roofline::Place place;
        place.site = {file, line};
        roofline::report(roofline::Kind::wrong_mask, place, true, "the width of a shuffle is a power of two up to 32, not %d", width);
    }
    roofline::join_collective(mask, static_cast<roofline::Collective>(collective), {file, line});
    return t.result;
}

RL_API uint64_t rl_vote(uint32_t mask, uint64_t value, uint32_t collective, int is_signed, int line, const char* file) {
    roofline::Thread& t = *roofline::current;
    t.operand = value;
    t.reduce_signed = is_signed;
    roofline::join_collective(mask, static_cast<roofline::Collective>(collective), {file, line});
    return t.result;
}

RL_API void rl_lanes(void* data, void (*function)(void* const*, uint32_t), int line, const char* file) {
    roofline::Thread& t = *roofline::current;
    t.lane_data = data;
    t.lanes_function = function;
    roofline::join_collective(~0u, roofline::Collective::lanes, {file, line});
}

RL_API uint32_t rl_active_mask(int line, const char* file) {
    roofline::join_collective(0, roofline::Collective::active_mask, {file, line});
    return static_cast<uint32_t>(roofline::current->result);
}
