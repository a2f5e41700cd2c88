// The control flow seen in the traces, and from it the order in which a warp executes diverged lanes.
//
// Hardware runs one side of a branch after the other and joins the lanes where the sides meet; lanes that left a loop
// wait for those still in it. Ranking the nodes of the flow graph so that loops are contiguous and edges ascend, except
// back to a loop's header, gives the same order: the lanes of the lowest rank go first, and a lane about to take a back
// edge waits behind everything in the loop. Who leaves a loop from its middle to return from the kernel meets nobody any
// more, and so goes at once.
#pragma once

#include <algorithm>
#include <unordered_map>

#include "log.hpp"

namespace roofline {

class Flow {
  public:
    static constexpr u32 kNone = ~0u;

    u32 node(Event event) {
        CacheLine& line = cache_[pc_of(event) & (kCache - 1)];
        if (line.event == event) return line.node;
        const auto [it, fresh] = nodes_.try_emplace(event, static_cast<u32>(events_.size()));
        if (fresh) {
            events_.push_back(event);
            next_.emplace_back();
            rank_.push_back(0);
            loop_end_.push_back(0);
            leaving_.push_back(false);
            stale_ = true;
        }
        line = {event, it->second};
        return it->second;
    }

    void edge(u32 from, u32 to) {
        std::vector<u32>& next = next_[from];
        if (std::find(next.begin(), next.end(), to) != next.end()) return;
        next.push_back(to);
        stale_ = true;
    }

    // Where a lane stands that goes from `previous` to `next`; lanes with the smallest value execute, equal ones together.
    u64 position(u32 previous, u32 next) const {
        const u32 rank = rank_[next];
        const u64 turn = leaving_[next] ? 0 : 1ull << 62;
        if (previous == kNone || rank > rank_[previous]) return turn | static_cast<u64>(rank) << 33;
        return turn | static_cast<u64>(loop_end_[next]) << 33 | 1ull << 32 | static_cast<u32>(~rank);
    }

    Event event(u32 node) const { return events_[node]; }
    size_t size() const { return events_.size(); }

    void clear() {
        nodes_.clear();
        events_.clear();
        next_.clear();
        rank_.clear();
        loop_end_.clear();
        leaving_.clear();
        cache_.assign(kCache, CacheLine{});
    }

    void update() {
        if (!stale_) return;
        stale_ = false;
        std::vector<u32> all(events_.size());
        for (u32 i = 0; i < all.size(); ++i) all[i] = i;
        level_.assign(all.size(), 0);
        ranks_ = 1;
        ranked_.assign(all.size(), false);
        leaving_.assign(all.size(), false);
        rank_nodes(all, 1);
    }

  private:
    static constexpr size_t kCache = 1 << 12, kLongestExit = 64;
    struct CacheLine {
        Event event = ~0ull;
        u32 node = 0;
    };

    // Ranks a set of nodes: strongly connected parts in topological order, each loop as header, then its inside.
    void rank_nodes(const std::vector<u32>& set, u32 level) {
        for (u32 node : set) level_[node] = level;
        std::vector<std::vector<u32>> components = connected(set, level);
        for (auto it = components.rbegin(); it != components.rend(); ++it) {
            std::vector<u32>& part = *it;
            const u32 header = part.size() == 1 ? part[0] : entry(part, level);
            rank_[header] = ranks_++;
            ranked_[header] = true;
            if (part.size() > 1) {
                find_leaving(part, header);
                part.erase(std::find(part.begin(), part.end(), header));
                level_[header] = 0;
                rank_nodes(part, level + 1);
                for (u32 node : part) level_[node] = 0;
            }
            loop_end_[header] = ranks_ - 1;
        }
    }

    // The ways out of a loop's middle (not where it decides on another round) that end the kernel.
    void find_leaving(const std::vector<u32>& loop, u32 header) {
        const auto inside = [&](u32 node) { return std::find(loop.begin(), loop.end(), node) != loop.end(); };
        for (u32 from : loop) {
            const std::vector<u32>& next = next_[from];
            if (from == header || std::find(next.begin(), next.end(), header) != next.end()) continue;
            for (u32 to : next)
                if (!inside(to)) mark_leaving(to, inside);
        }
    }

    template <class Inside>
    void mark_leaving(u32 first, Inside inside) {
        std::vector<u32> region{first};
        const auto known = [&](u32 node) { return std::find(region.begin(), region.end(), node) != region.end(); };
        for (size_t i = 0; i < region.size(); ++i) {
            for (u32 to : next_[region[i]]) {
                if (inside(to) || region.size() > kLongestExit) return;
                if (!known(to)) region.push_back(to);
            }
        }
        // The last block may be everybody's: nothing happens there.
        const auto last = [&](u32 node) { return next_[node].empty() && space_of(events_[node]) == Space::block; };
        for (u32 from = 0; from < next_.size(); ++from)
            for (u32 to : next_[from])
                if (to != first && known(to) && !known(from) && !last(to)) return;
        for (u32 node : region)
            if (!last(node)) leaving_[node] = true;
    }

    // The node through which control enters a loop: one that an already ranked node leads to, else the first one seen.
    u32 entry(const std::vector<u32>& part, u32) const {
        std::vector<u32> sorted = part;
        std::sort(sorted.begin(), sorted.end());
        for (u32 from = 0; from < next_.size(); ++from) {
            if (!ranked_[from]) continue;
            for (u32 to : next_[from])
                if (std::binary_search(sorted.begin(), sorted.end(), to)) return to;
        }
        return sorted.front();
    }

    // Tarjan's algorithm without recursion; components come out in reverse topological order.
    std::vector<std::vector<u32>> connected(const std::vector<u32>& set, u32 level) {
        std::vector<std::vector<u32>> result;
        std::vector<u32> index(events_.size(), 0), low(events_.size(), 0), stack;
        std::vector<bool> on_stack(events_.size(), false);
        u32 counter = 0;
        struct Visit {
            u32 node, child;
        };
        for (u32 root : set) {
            if (index[root]) continue;
            std::vector<Visit> visits{{root, 0}};
            index[root] = low[root] = ++counter;
            stack.push_back(root);
            on_stack[root] = true;
            while (!visits.empty()) {
                Visit& v = visits.back();
                const u32 node = v.node;
                if (v.child < next_[node].size()) {
                    const u32 to = next_[node][v.child++];
                    if (level_[to] != level) continue;
                    if (!index[to]) {
                        index[to] = low[to] = ++counter;
                        stack.push_back(to);
                        on_stack[to] = true;
                        visits.push_back({to, 0});
                    } else if (on_stack[to]) {
                        low[node] = std::min(low[node], index[to]);
                    }
                    continue;
                }
                visits.pop_back();
                if (!visits.empty()) low[visits.back().node] = std::min(low[visits.back().node], low[node]);
                if (low[node] != index[node]) continue;
                result.emplace_back();
                u32 member;
                do {
                    member = stack.back();
                    stack.pop_back();
                    on_stack[member] = false;
                    result.back().push_back(member);
                } while (member != node);
            }
        }
        return result;
    }

    std::unordered_map<Event, u32> nodes_;
    std::vector<Event> events_;
    std::vector<std::vector<u32>> next_;
    std::vector<u32> rank_, loop_end_, level_;
    std::vector<bool> ranked_, leaving_;
    std::vector<CacheLine> cache_ = std::vector<CacheLine>(kCache);
    u32 ranks_ = 1;
    bool stale_ = false;
};

}  // namespace roofline
