// total = sum of x as in vectorised, but by butterflies: lanes exchange their sums with the lane whose number differs in
// one bit, so that after five steps all have the result. It costs what shuffling down costs, and a kernel that goes on
// with the sum (softmax, layernorm) saves the broadcast.

#include "sum.cuh"
#include "total.cuh"

template <typename Accumulator>
__device__ Accumulator warp_sum_everywhere(Accumulator value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

template <typename T, typename Accumulator, int BLOCK>
__global__ void __launch_bounds__(BLOCK, 2048 / BLOCK) sum_butterfly(const T* __restrict__ x, long long n, int head, Accumulator* total) {
    __shared__ Accumulator warp_sums[BLOCK / 32];
    const int lane = threadIdx.x % 32;
    Accumulator sum = warp_sum_everywhere(thread_sum<T, Accumulator, BLOCK>(x, n, head));
    if (lane == 0) {
        warp_sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    sum = warp_sum_everywhere(lane < BLOCK / 32 ? warp_sums[lane] : Accumulator(0));  // in every thread of the block
    if (threadIdx.x == BLOCK - 1) {
        add_to(total, sum);
    }
}
