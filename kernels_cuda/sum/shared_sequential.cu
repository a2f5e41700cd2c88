// total = sum of x as in shared_interleaved, but halves of the block are added: the active threads stay neighbours and
// read neighbouring words, so that whole warps retire and no two lanes want the same bank.

#include <cuda_fp16.h>

#include "total.cuh"

template <typename T, typename Accumulator, int BLOCK>
__global__ void sum_shared_sequential(const T* __restrict__ x, long long n, Accumulator* total) {
    __shared__ Accumulator sums[BLOCK];
    const long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    sums[threadIdx.x] = i < n ? static_cast<Accumulator>(x[i]) : Accumulator(0);
    __syncthreads();
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
