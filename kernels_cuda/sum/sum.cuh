// What one thread and one block add up, shared by the vectorised sums.

#pragma once

#include <cuda_fp16.h>

// Sum of the elements in one 16-byte pack.
template <typename T, typename Accumulator>
__device__ Accumulator pack_sum(uint4 pack) {
    const T* element = reinterpret_cast<const T*>(&pack);
    Accumulator sum = 0;
#pragma unroll
    for (int k = 0; k < static_cast<int>(sizeof(uint4) / sizeof(T)); ++k) {
        sum += static_cast<Accumulator>(element[k]);
    }
    return sum;
}

// This thread's share of x[0..n): 16-byte packs from the aligned element `head` on, a grid apart, and at most one of the
// elements before and after them. Four loads are in flight at once, and four sums do not wait for each other.
template <typename T, typename Accumulator>
__device__ Accumulator thread_sum(const T* __restrict__ x, long long n, int head) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T);
    constexpr int UNROLL = 4;
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long packs = (n - head) / WIDTH;
    const uint4* __restrict__ pack = reinterpret_cast<const uint4*>(x + head);

    Accumulator sum[UNROLL] = {0, 0, 0, 0};
    for (long long first = thread; first < packs; first += UNROLL * threads) {
        uint4 loaded[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            const long long i = first + u * threads;
            loaded[u] = i < packs ? pack[i] : make_uint4(0, 0, 0, 0);  // zero bits are the number zero
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            sum[u] += pack_sum<T, Accumulator>(loaded[u]);
        }
    }

    const long long edge = n - packs * WIDTH;  // head and tail together, fewer than 2 * WIDTH
    if (thread < edge) {
        sum[0] += static_cast<Accumulator>(x[thread < head ? thread : thread + packs * WIDTH]);
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Sum over the threads of a warp, valid in lane 0.
template <typename Accumulator>
__device__ Accumulator warp_sum(Accumulator value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, distance);
    }
    return value;
}

// Sum over a block of whole warps, valid in thread 0.
template <typename Accumulator>
__device__ Accumulator block_sum(Accumulator value) {
    __shared__ Accumulator warp_sums[32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    value = warp_sum(value);
    if (lane == 0) {
        warp_sums[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        const int warps = static_cast<int>(blockDim.x / 32);
        value = warp_sum(lane < warps ? warp_sums[lane] : Accumulator(0));
    }
    return value;
}
