// The order in which clusters of blocks take the tiles of c, and the loads that follow it.
//
// Tiles are walked in groups of rows, as many as make the tiles that run at a time about square; every second tile of a
// block walks k backwards and every second group its columns, so that what is asked for first was used last.
#pragma once

#include "wgmma_roles.cuh"

template <int CLUSTER>
class Walk {
  public:
    // `group`: rows of clusters' tiles that are walked column by column.
    __device__ Walk(int m, int n, int group)
        : down_((m + CLUSTER * TILE_M - 1) / (CLUSTER * TILE_M)),
          across_((n + TILE_N - 1) / TILE_N),
          group_(group),
          rank_(cluster_rank()) {}

    __device__ int first() const { return blockIdx.x / CLUSTER; }
    __device__ int stride() const { return gridDim.x / CLUSTER; }
    __device__ int tiles() const { return down_ * across_; }
    __device__ unsigned rank() const { return rank_; }

    // Where this block's tile is when its cluster takes number `index`.
    __device__ void place(int index, int& row, int& column) const {
        const int turn = index / (group_ * across_);
        const int inside = index - turn * group_ * across_;
        const int rows = min(group_, down_ - turn * group_);
        const int along = inside / rows;
        row = ((turn * group_ + inside - along * rows) * CLUSTER + rank_) * TILE_M;
        column = (turn & 1 ? across_ - 1 - along : along) * TILE_N;
    }

  private:
    int down_;
    int across_;
    int group_;
    unsigned rank_;
};

// Load all tiles of a block, one thread.
template <typename Operand, bool B_BY_COLUMNS, int CLUSTER>
__device__ __forceinline__ void produce_all(const Ring& ring, const Walk<CLUSTER>& walk, const TensorMap& a,
                                            const TensorMap& b, int steps) {
    prefetch(a);
    prefetch(b);
    Turn turn(1);  // of a barrier without a past the phase before the first counts as complete
    bool backwards = false;
    for (int tile = walk.first(); tile < walk.tiles(); tile += walk.stride(), backwards = !backwards) {
        int row, column;
        walk.place(tile, row, column);
        produce<Operand, B_BY_COLUMNS, CLUSTER>(ring, turn, a, b, row, column, steps, walk.rank(), backwards);
    }
}
