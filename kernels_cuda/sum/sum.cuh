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

// This thread's share of x[0..n): the 16-byte packs from the aligned element `head` on, in tiles of four per thread, and
// at most one of the elements before and after them. Four loads are in flight at once, four sums wait for no other.
template <typename T, typename Accumulator, int BLOCK>
__device__ Accumulator thread_sum(const T* __restrict__ x, long long n, int head) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T);
    constexpr int UNROLL = 4;
    const long long packs = (n - head) / WIDTH;
    const uint4* __restrict__ pack = reinterpret_cast<const uint4*>(x + head);

    Accumulator sum[UNROLL] = {0, 0, 0, 0};
    const long long grid = static_cast<long long>(gridDim.x) * UNROLL * BLOCK;
    long long i = static_cast<long long>(blockIdx.x) * UNROLL * BLOCK + threadIdx.x;
    for (; i + (UNROLL - 1) * BLOCK < packs; i += grid) {
        uint4 loaded[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            loaded[u] = pack[i + u * BLOCK];
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            sum[u] += pack_sum<T, Accumulator>(loaded[u]);
        }
    }
    for (; i < packs; i += BLOCK) {  // what is left of the last tile, which is this block's
        sum[0] += pack_sum<T, Accumulator>(pack[i]);
    }

    const long long thread = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
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
