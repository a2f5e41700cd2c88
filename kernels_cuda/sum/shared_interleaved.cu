// total = sum of x, one element per thread and one atomic addition per block: a block adds its threads in shared memory,
// neighbours first. The threads that are still active lie ever further apart: every warp keeps some, and their words
// fall into ever fewer banks.

#include <cuda_fp16.h>

#include "total.cuh"

template <typename T, typename Accumulator, int BLOCK>
__global__ void sum_shared_interleaved(const T* __restrict__ x, long long n, Accumulator* total) {
    __shared__ Accumulator sums[BLOCK];
    const long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    sums[threadIdx.x] = i < n ? static_cast<Accumulator>(x[i]) : Accumulator(0);
    __syncthreads();
    for (int distance = 1; distance < BLOCK; distance *= 2) {
        if (threadIdx.x % (2 * distance) == 0) {
            sums[threadIdx.x] += sums[threadIdx.x + distance];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        add_to(total, sums[0]);
    }
}
