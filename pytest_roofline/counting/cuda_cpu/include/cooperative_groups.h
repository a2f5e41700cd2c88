// Cooperative groups of a block and of parts of a warp. A grid cannot synchronise here: blocks run one after another.
#pragma once
#include "rl/cuda.hpp"

namespace cooperative_groups {

class thread_block {
  public:
    __attribute__((always_inline)) inline void sync(RL_SITE) const { rl_barrier(0, 0, line, file); }
    static __attribute__((always_inline)) inline unsigned thread_rank() {
        const uint3 t = rl_thread_index(), n = rl_block_extent();
        return (t.z * n.y + t.y) * n.x + t.x;
    }
    static __attribute__((always_inline)) inline unsigned size() {
        const uint3 n = rl_block_extent();
        return n.x * n.y * n.z;
    }
    static __attribute__((always_inline)) inline unsigned num_threads() { return size(); }
    static __attribute__((always_inline)) inline dim3 group_index() { return rl_block_index(); }
    static __attribute__((always_inline)) inline dim3 thread_index() { return rl_thread_index(); }
    static __attribute__((always_inline)) inline dim3 group_dim() { return rl_block_extent(); }
    static __attribute__((always_inline)) inline dim3 dim_threads() { return rl_block_extent(); }
};
RL_INLINE thread_block this_thread_block() { return {}; }

class grid_group {
  public:
    __attribute__((always_inline)) inline void sync(RL_SITE) const {
        rl_fail(RL_UNSUPPORTED, "grid.sync(): blocks run one after another here", line, file);
    }
    static __attribute__((always_inline)) inline unsigned long long thread_rank() {
        const uint3 b = rl_block_index(), g = rl_grid_extent();
        return ((static_cast<unsigned long long>(b.z) * g.y + b.y) * g.x + b.x) * thread_block::size() + thread_block::thread_rank();
    }
    static __attribute__((always_inline)) inline unsigned long long size() {
        const uint3 g = rl_grid_extent();
        return static_cast<unsigned long long>(g.x) * g.y * g.z * thread_block::size();
    }
};
RL_INLINE grid_group this_grid() { return {}; }

// Lanes of one warp: a tile of consecutive lanes, or those that have converged.
class rl_lanes_group {
  public:
    unsigned mask;
    __attribute__((always_inline)) inline void sync(RL_SITE) const { rl_syncwarp(mask, line, file); }
    __attribute__((always_inline)) inline unsigned thread_rank() const { return __builtin_popcount(mask & ((1u << rl_lane()) - 1)); }
    __attribute__((always_inline)) inline unsigned size() const { return __builtin_popcount(mask); }
    __attribute__((always_inline)) inline unsigned num_threads() const { return size(); }
    __attribute__((always_inline)) inline int any(int p, RL_SITE) const { return __any_sync(mask, p, line, file); }
    __attribute__((always_inline)) inline int all(int p, RL_SITE) const { return __all_sync(mask, p, line, file); }
    __attribute__((always_inline)) inline unsigned lane_of(unsigned rank) const {
        unsigned rest = mask;
        for (; rank > 0 && rest; --rank) rest &= rest - 1;
        return rest ? __builtin_ctz(rest) : rl_lane();
    }
    __attribute__((always_inline)) inline unsigned ranks_of(unsigned lanes) const {
        unsigned ranks = 0, position = 0;
        for (unsigned rest = mask; rest; rest &= rest - 1, ++position)
            if (lanes >> __builtin_ctz(rest) & 1) ranks |= 1u << position;
        return ranks;
    }
    __attribute__((always_inline)) inline unsigned ballot(int p, RL_SITE) const { return ranks_of(__ballot_sync(mask, p, line, file)); }
    template <class T>
    __attribute__((always_inline)) inline unsigned match_any(T value, RL_SITE) const { return ranks_of(__match_any_sync(mask, value, line, file)); }
    template <class T>
    __attribute__((always_inline)) inline T shfl(T value, unsigned rank, RL_SITE) const {
        return __shfl_sync(mask, value, static_cast<int>(lane_of(rank % size())), 32, line, file);
    }
    template <class T>
    __attribute__((always_inline)) inline T shfl_down(T value, unsigned delta, RL_SITE) const {
        const unsigned rank = thread_rank() + delta;
        return __shfl_sync(mask, value, static_cast<int>(rank < size() ? lane_of(rank) : rl_lane()), 32, line, file);
    }
    template <class T>
    __attribute__((always_inline)) inline T shfl_up(T value, unsigned delta, RL_SITE) const {
        const unsigned rank = thread_rank();
        return __shfl_sync(mask, value, static_cast<int>(rank >= delta ? lane_of(rank - delta) : rl_lane()), 32, line, file);
    }
    template <class T>
    __attribute__((always_inline)) inline T shfl_xor(T value, unsigned lanes, RL_SITE) const {
        const unsigned rank = thread_rank() ^ lanes;
        return __shfl_sync(mask, value, static_cast<int>(rank < size() ? lane_of(rank) : rl_lane()), 32, line, file);
    }
};

template <unsigned Size, class Parent = thread_block>
class thread_block_tile : public rl_lanes_group {
  public:
    static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "tiles of up to a warp are modelled");
    __attribute__((always_inline)) inline thread_block_tile()
        : rl_lanes_group{(Size == 32 ? ~0u : (1u << (Size & 31)) - 1) << (rl_lane() & ~(Size - 1))} {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    __attribute__((always_inline)) inline unsigned thread_rank() const { return rl_lane() & (Size - 1); }
    __attribute__((always_inline)) inline unsigned meta_group_rank() const { return thread_block::thread_rank() / Size; }
    __attribute__((always_inline)) inline unsigned meta_group_size() const { return (thread_block::size() + Size - 1) / Size; }
};
template <unsigned Size, class Parent>
RL_INLINE thread_block_tile<Size, Parent> tiled_partition(const Parent&) { return {}; }

class coalesced_group : public rl_lanes_group {};
RL_INLINE coalesced_group coalesced_threads(RL_SITE) {
    coalesced_group group;
    group.mask = rl_active_mask(line, file);
    return group;
}

// The lanes of a group whose labels are equal, and those that agree about a predicate.
template <class Group, class Label>
RL_INLINE coalesced_group labeled_partition(const Group& group, Label label, RL_SITE) {
    coalesced_group part;
    part.mask = __match_any_sync(group.mask, label, line, file);
    return part;
}
template <class Group>
RL_INLINE coalesced_group binary_partition(const Group& group, bool predicate, RL_SITE) {
    coalesced_group part;
    const unsigned yes = __ballot_sync(group.mask, predicate, line, file);
    part.mask = predicate ? yes : group.mask & ~yes;
    return part;
}
// A tile whose size is known when the kernel runs.
template <class Parent>
RL_INLINE coalesced_group tiled_partition(const Parent&, unsigned size) {
    coalesced_group tile;
    tile.mask = (size == 32 ? ~0u : (1u << (size & 31)) - 1) << (rl_lane() & ~(size - 1));
    return tile;
}

template <class Group>
RL_INLINE void sync(const Group& group, RL_SITE) { group.sync(line, file); }

}  // namespace cooperative_groups
