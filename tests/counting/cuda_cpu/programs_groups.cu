// Cooperative groups, each kernel correct, and wrong where BUG says so; findings must point at a line marked with its number.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#ifndef BUG
#define BUG 0
#endif

namespace cg = cooperative_groups;

// Tiles of 16 lanes reduce rows; the lanes that found something count as one.
extern "C" __global__ void count_above(const float* x, const float* limit, int* counts, int* total, int n) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    const int row = blockIdx.x * (block.size() / 16) + tile.meta_group_rank();
    int count = 0;
    for (int i = tile.thread_rank(); i < n; i += tile.size()) {
        if (x[row * n + i] > limit[row]) {
            ++count;
            cg::coalesced_group found = cg::coalesced_threads();
            if (BUG == 2 || found.thread_rank() == 0) {
                if (BUG == 2) *total += 1;  // BUG 2
                else atomicAdd(total, static_cast<int>(found.size()));
            }
        }
    }
    const int sum = cg::reduce(tile, count, cg::plus<int>());
    if (BUG == 1 ? tile.thread_rank() < 2 : tile.thread_rank() == 0) counts[row + tile.thread_rank()] = sum;  // BUG 1
}
