// total = sum of x with a fixed number of blocks: a thread adds many elements in a register, a block adds its threads
// in shared memory, and one atomic addition per block is left.

#include <cuda_fp16.h>

#include "total.cuh"

template <typename T, typename Accumulator, int BLOCK>
__global__ void sum_grid_stride(const T* __restrict__ x, long long n, Accumulator* total) {
    const long long threads = static_cast<long long>(gridDim.x) * BLOCK;
    Accumulator sum = 0;
    for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < n; i += threads) {
        sum += static_cast<Accumulator>(x[i]);
    }

    __shared__ Accumulator sums[BLOCK];
    sums[threadIdx.x] = sum;
    __syncthreads();
    // Active threads stay neighbours and read neighbouring words: no divergence within a warp, no bank conflicts.
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        add_to(total, sums[0]);
    }
}
