// What one thread and one block add up, shared by the vectorised sums.

#pragma once

#include <cuda_fp16.h>

// Sum of the elements in one 16-byte pack, as a tree.
template <typename T, typename Accumulator>
__device__ Accumulator pack_sum(uint4 pack) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T);
    const T* element = reinterpret_cast<const T*>(&pack);
    Accumulator sum[WIDTH];
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) {
        sum[k] = static_cast<Accumulator>(element[k]);
    }
#pragma unroll
    for (int half = WIDTH / 2; half > 0; half /= 2) {
#pragma unroll
        for (int k = 0; k < half; ++k) {
            sum[k] += sum[k + half];
        }
    }
    return sum[0];
}

// This thread's share of x[0..n): the 16-byte packs from the aligned element `head` on, in tiles of four per thread, and
// at most one of the elements before and after them. Four loads are in flight at once.
template <typename T, typename Accumulator, int BLOCK>
__device__ Accumulator thread_sum(const T* __restrict__ x, long long n, int head) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T);
    constexpr int UNROLL = 4;
    const long long packs = (n - head) / WIDTH;
    const uint4* __restrict__ pack = reinterpret_cast<const uint4*>(x + head);

    Accumulator sum = 0;
    const long long thread = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    const long long edge = n - packs * WIDTH;  // head and tail together, fewer than 2 * WIDTH
    if (thread < edge) {
        sum = static_cast<Accumulator>(x[thread < head ? thread : thread + packs * WIDTH]);
    }

    // Counted in tiles, 32 bits that all threads of a block share: with an index of 64 bits per thread, registers ran
    // short and the compiler held loads back until the first were added up (2.3 of 19 us, 2^24 elements of f32, H200).
    constexpr int TILE = UNROLL * BLOCK;
    const unsigned tiles = packs / TILE;
    unsigned tile = blockIdx.x;
    for (; tile < tiles; tile += gridDim.x) {
        const uint4* __restrict__ first = pack + static_cast<long long>(tile) * TILE + threadIdx.x;
        uint4 loaded[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            loaded[u] = first[u * BLOCK];
        }
        Accumulator part[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            part[u] = pack_sum<T, Accumulator>(loaded[u]);
        }
        sum += (part[0] + part[1]) + (part[2] + part[3]);
    }
    if (tile == tiles) {  // what is left is this block's
        for (long long i = static_cast<long long>(tile) * TILE + threadIdx.x; i < packs; i += BLOCK) {
            sum += pack_sum<T, Accumulator>(pack[i]);
        }
    }
    return sum;
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
