// Counts per source location: the traces of a warp's lanes become requests of the warp.
#pragma once

#include <unordered_set>

#include "access.hpp"
#include "banks.hpp"
#include "flow.hpp"
#include "merging.hpp"

namespace roofline {

inline Flow flow;
inline std::unordered_set<u64> used_results;  // places of atomics that count up and whose result is needed
inline std::vector<LineCount> line_counts;  // by node of the flow

inline LineCount& line_count(u32 node) {
    while (line_counts.size() <= node) {
        LineCount count{};
        const Event event = flow.event(static_cast<u32>(line_counts.size()));
        count.pc = pc_of(event);
        count.kind = static_cast<u32>(space_of(event));
        count.size = size_of(event);
        line_counts.push_back(count);
    }
    return line_counts[node];
}

inline void note_wide(u32 node, const Wide& wide) {
    LineCount& c = line_count(node);
    c.merged_requests += wide.requests;
    c.merged_wavefronts += wide.wavefronts;
}

inline Merger merger(note_wide);

// The source sides of cp.async instructions that wait for their destinations; lanes that only write zeros have none.
struct CopySource {
    u32 node;
    Event copy;  // of the source: that of the destination is its successor
    Request request;
};

inline std::vector<CopySource> copy_sources;

inline Event copy_of(Event event) { return make_event(pc_of(event), piece_of(event) & ~1u, Space::copy_load, 0); }

inline void count_copy(u32 node, const Request& destination) {
    const Event copy = copy_of(flow.event(node));
    Request source;
    u32 first = 0;
    for (const CopySource& part : copy_sources) {  // of several parts when lanes copy different numbers of bytes
        if (part.copy != copy) continue;
        first = part.node;
        source.mask |= part.request.mask;
        source.size = std::max(source.size, part.request.size);
        for (u32 l = 0; l < 32; ++l)
            if (part.request.mask >> l & 1) source.address[l] = part.request.address[l];
    }
    if (source.mask) line_count(first).sectors += copy_sectors(source, destination);
    std::erase_if(copy_sources, [&](const CopySource& part) { return part.copy == copy; });
}

inline void count_spin(u32 node, const Request& r) {
    const Spin found = spin(r);
    LineCount& c = line_count(node);
    c.requests += found.rounds - 1;
    c.wavefronts += found.swaps;
    c.max_degree = std::max<u64>(c.max_degree, found.rounds);
    note_wide(node, {found.rounds, found.swaps});
    const u32 loads = flow.node(make_event(pc_of(flow.event(node)), kSpinLoads, Space::shared_load, r.size));
    line_count(loads).requests += found.rounds;
    line_count(loads).wavefronts += found.loads;
    note_wide(loads, {found.rounds, found.loads});
}

inline Wavefronts shared_wavefronts(Event event, const Request& r) {
    switch (space_of(event)) {
        case Space::matrix_load: return matrix_wavefronts(r);
        case Space::shared_atomic: {
            const u32 how = piece_of(event);
            return atomic_wavefronts(r, how == kCounts && used_results.count(pc_of(event)) ? 0 : how);
        }
        default: return wavefronts(r);
    }
}

// The addresses counted from the start of their allocations, as a GPU's allocator would place it.
inline Request in_allocation(Request r) {
    for (u64& address : r.address) {
        const Region* region = arena.find(address);
        if (region) address += region->placed - region->base;
    }
    return r;
}

inline void count_request(u32 node, const Request& r) {
    LineCount& c = line_count(node);
    const Space space = static_cast<Space>(c.kind);
    c.requests += 1;
    c.lanes += lanes_of(r);
    switch (space) {
        case Space::block: return;
        case Space::copy_load:
            c.ideal_sectors += ideal_sectors(r);
            copy_sources.push_back({node, copy_of(flow.event(node)), r});
            return;
        case Space::copy_store: count_copy(node, r); break;
        case Space::global_load:
        case Space::global_store:
            c.sectors += sectors(r);
            c.ideal_sectors += ideal_sectors(r);
            return;
        case Space::global_atomic: {
            const Contention here = contention(in_allocation(r));
            c.sectors += here.sectors;
            c.ideal_sectors += ideal_sectors(r);
            c.max_degree = std::max<u64>(c.max_degree, here.degree);
            return;
        }
        case Space::shared_atomic:
            if (piece_of(flow.event(node)) != kSpins) break;
            merger.barrier();
            count_spin(node, r);
            return;
        default: break;
    }
    const Wavefronts w = shared_wavefronts(flow.event(node), r);
    c.wavefronts += w.total;
    c.ideal_wavefronts += w.groups;
    c.max_degree = std::max<u64>(c.max_degree, w.degree);
    if (space == Space::shared_load) {
        merger.load(node, r, w);
        return;
    }
    if (space != Space::matrix_load) merger.barrier();
    note_wide(node, {1, w.total});
}

// Every lane did the same: the usual case, found by comparing the traces as bytes.
inline void count_uniform(Thread* lanes, u32 size) {
    Request r;
    r.mask = size == 32 ? ~0u : (1u << size) - 1;
    const Log& first = lanes[0].log;
    for (size_t i = 0, a = 0; i < first.size(); ++i) {
        const Event event = first.events()[i];
        r.size = size_of(event);
        if (space_of(event) != Space::block) {
            for (u32 l = 0; l < size; ++l) r.address[l] = lanes[l].log.addresses()[a];
            ++a;
        }
        count_request(flow.node(event), r);
    }
}

inline void count_diverged(Thread* lanes, u32 size) {
    static std::vector<u32> nodes[kWarp];
    for (u32 l = 0; l < size; ++l) {
        const Log& log = lanes[l].log;
        nodes[l].clear();
        for (size_t i = 0; i < log.size(); ++i) {
            nodes[l].push_back(flow.node(log.events()[i]));
            if (i) flow.edge(nodes[l][i - 1], nodes[l][i]);
        }
    }
    flow.update();
    size_t at[kWarp] = {}, address_at[kWarp] = {};
    for (;;) {
        u64 best = ~0ull, position[kWarp];
        for (u32 l = 0; l < size; ++l) {
            position[l] = ~0ull;
            if (at[l] == nodes[l].size()) continue;
            position[l] = flow.position(at[l] ? nodes[l][at[l] - 1] : Flow::kNone, nodes[l][at[l]]);
            best = std::min(best, position[l]);
        }
        if (best == ~0ull) return;
        Request r;
        u32 node = 0;
        for (u32 l = 0; l < size; ++l) {
            if (position[l] != best) continue;
            node = nodes[l][at[l]++];
            const Event event = flow.event(node);
            r.mask |= 1u << l;
            r.size = size_of(event);
            if (space_of(event) != Space::block) r.address[l] = lanes[l].log.addresses()[address_at[l]++];
        }
        count_request(node, r);
    }
}

inline void count_warp(u32 warp) {
    if (!(launch.flags & kCount)) return;
    Thread* lanes = &threads[warp * kWarp];
    const u32 size = warps[warp].size;
    const Log& first = lanes[0].log;
    bool uniform = true;
    for (u32 l = 1; l < size && uniform; ++l) {
        const Log& log = lanes[l].log;
        uniform = log.size() == first.size() && !std::memcmp(log.events(), first.events(), first.size() * sizeof(Event));
    }
    if (uniform) {
        count_uniform(lanes, size);
    } else {
        count_diverged(lanes, size);
    }
    merger.barrier();
    copy_sources.clear();
    for (u32 l = 0; l < size; ++l) lanes[l].log.clear();
}

}  // namespace roofline
