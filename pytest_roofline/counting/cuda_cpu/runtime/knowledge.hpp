// What is known of the accesses of other threads: a value that never changes, of which others are made by joining two.
//
// Of a block it says from which barrier on (`epoch`) not everything is known, and up to which clock the accesses behind it
// are, thread by thread. Who knows any access behind a barrier knows all before it, because the barrier ordered them; so
// the later epoch of two wins whole. Blocks are the leaves of a binary tree (Okasaki and Gill's mergeable maps), and joined
// trees share what is equal: a chain of a thousand blocks costs a few nodes each, a lock that goes round many threads one
// leaf each time.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "abi.hpp"

namespace roofline {

struct Knowledge;
using Known = std::shared_ptr<const Knowledge>;  // null: nothing

struct Knowledge {
    u32 prefix = 0;  // a leaf: the number of the block; a branch: the bits below `bit` that all its blocks share
    u32 bit = 0;     // by which the two sides of a branch differ; kLeaf: none
    Known sides[2];
    u16 epoch = 0;
    std::vector<u32> bounds;  // thread << 16 | clock, ascending: accesses of the thread below this clock are known
};

constexpr u32 kLeaf = 1u << 31;

inline bool earlier(u16 a, u16 b) { return static_cast<int16_t>(a - b) < 0; }
inline u32 bound(u32 thread, u16 clock) { return thread << 16 | clock; }

// `bounds` must be ascending.
inline Known known_of_block(u32 block, u16 epoch, std::vector<u32> bounds) {
    return std::make_shared<const Knowledge>(Knowledge{block, kLeaf, {}, epoch, std::move(bounds)});
}

inline Known branch(u32 bit, u32 prefix, Known without, Known with) {
    return std::make_shared<const Knowledge>(Knowledge{prefix & (bit - 1), bit, {std::move(without), std::move(with)}, 0, {}});
}

// The later bound of every thread.
inline std::vector<u32> join_bounds(const std::vector<u32>& a, const std::vector<u32>& b) {
    std::vector<u32> joined;
    joined.reserve(a.size() + b.size());
    for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        const u32 thread_a = i < a.size() ? a[i] >> 16 : ~0u, thread_b = j < b.size() ? b[j] >> 16 : ~0u;
        if (thread_a == thread_b) {
            const bool a_first = earlier(static_cast<u16>(a[i]), static_cast<u16>(b[j]));
            joined.push_back(a_first ? b[j] : a[i]);
            ++i, ++j;
        } else {
            joined.push_back(thread_a < thread_b ? a[i++] : b[j++]);
        }
    }
    return joined;
}

inline Known join_of_block(const Known& a, const Known& b) {
    if (earlier(a->epoch, b->epoch)) return b;
    if (earlier(b->epoch, a->epoch)) return a;
    std::vector<u32> joined = join_bounds(a->bounds, b->bounds);
    if (joined == a->bounds) return a;
    if (joined == b->bounds) return b;
    return known_of_block(a->prefix, a->epoch, std::move(joined));
}

inline bool belongs_below(const Knowledge& part, const Knowledge& whole) {
    return whole.bit < part.bit && (part.prefix & (whole.bit - 1)) == whole.prefix;
}

// What both know together; one of the two itself where it knows all that the other does.
inline Known join(const Known& a, const Known& b) {
    if (!b || a == b) return a;
    if (!a) return b;
    Known sides[2];
    const Known* whole = &a;
    if (a->bit == b->bit && a->prefix == b->prefix) {
        if (a->bit == kLeaf) return join_of_block(a, b);
        for (int k = 0; k < 2; ++k) sides[k] = join(a->sides[k], b->sides[k]);
        if (sides[0] == b->sides[0] && sides[1] == b->sides[1]) return b;
    } else if (belongs_below(*a, *b) || belongs_below(*b, *a)) {
        const bool a_below = belongs_below(*a, *b);
        whole = a_below ? &b : &a;
        const Known& part = a_below ? a : b;
        const int side = part->prefix & (*whole)->bit ? 1 : 0;
        sides[side] = join((*whole)->sides[side], part);
        sides[1 - side] = (*whole)->sides[1 - side];
    } else {
        const u32 differing = a->prefix ^ b->prefix, bit = differing & (~differing + 1);
        return a->prefix & bit ? branch(bit, a->prefix, b, a) : branch(bit, a->prefix, a, b);
    }
    if (sides[0] == (*whole)->sides[0] && sides[1] == (*whole)->sides[1]) return *whole;
    return branch((*whole)->bit, (*whole)->prefix, std::move(sides[0]), std::move(sides[1]));
}

// Is the access of a thread of `block` at this epoch and clock known?
inline bool includes(const Known& known, u32 block, u32 thread, u16 epoch, u16 clock) {
    const Knowledge* at = known.get();
    while (at && at->bit != kLeaf) at = at->sides[block & at->bit ? 1 : 0].get();
    if (!at || at->prefix != block) return false;
    if (epoch != at->epoch) return earlier(epoch, at->epoch);
    const auto found = std::lower_bound(at->bounds.begin(), at->bounds.end(), bound(thread, 0));
    return found != at->bounds.end() && *found >> 16 == thread && earlier(clock, static_cast<u16>(*found));
}

}  // namespace roofline
