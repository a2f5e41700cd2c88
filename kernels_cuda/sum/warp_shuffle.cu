// total = sum of x as in grid_stride, but a warp adds its lanes by shuffles: registers instead of shared memory, and one
// barrier instead of one per level of the tree.

#include "sum.cuh"
#include "total.cuh"

template <typename T, typename Accumulator, int BLOCK>
__global__ void sum_warp_shuffle(const T* __restrict__ x, long long n, Accumulator* total) {
    const long long threads = static_cast<long long>(gridDim.x) * BLOCK;
    Accumulator sum = 0;
    for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < n; i += threads) {
        sum += static_cast<Accumulator>(x[i]);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        add_to(total, sum);
    }
}
