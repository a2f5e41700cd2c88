// The running softmax of one thread: largest element so far, and the sum of exponentials relative to it.

#pragma once

#include "../_rowwise.cuh"

// exp(-inf - -inf) is NaN: as long as all elements are -inf, they are held against 0 instead.
__device__ inline float shift_of(float largest) {
    return largest == -CUDART_INF_F ? 0.0f : largest;
}

// What one warp found in its part of a row; 64 bits, to be stored at once.
struct alignas(8) Share {
    float largest;
    float sum;  // of exponentials relative to that
};

// What COUNT warps found together, in every lane of a warp that asks for it.
template <int COUNT>
__device__ Share joined(const Share* shares) {
    static_assert(COUNT < 32 || COUNT % 32 == 0, "all lanes have as many");
    constexpr int EACH = (COUNT + 31) / 32;  // of a lane
    const int lane = threadIdx.x % 32;
    Share mine[EACH];
    Share all{-CUDART_INF_F, 0.0f};
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        mine[k] = COUNT % 32 == 0 || lane < COUNT ? shares[k * 32 + lane] : all;
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        all.largest = fmaxf(all.largest, mine[k].largest);
    }
    all.largest = warp_reduce<Max>(all.largest);
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        all.sum += mine[k].sum * __expf(mine[k].largest - shift_of(all.largest));
    }
    all.sum = warp_reduce<Sum>(all.sum);
    return all;
}

struct Online {
    float largest = -CUDART_INF_F;
    float sum = 0.0f;

    template <int WIDTH>
    __device__ void add(const float (&value)[WIDTH]) {
        float larger = largest;
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            larger = fmaxf(larger, value[k]);
        }
        const float shift = shift_of(larger);
        float part = 0.0f;  // a word's terms by themselves: the longer a chain, the more of a small one is lost
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            part += __expf(value[k] - shift);
        }
        sum = sum * __expf(largest - shift) + part;
        largest = larger;
    }

    // What another one has found in other elements of the row.
    __device__ void join(const Online& other) {
        const float larger = fmaxf(largest, other.largest);
        const float shift = shift_of(larger);
        sum = sum * __expf(largest - shift) + other.sum * __expf(other.largest - shift);
        largest = larger;
    }

    // Over the threads of a row: its `largest` and `sum`, in every thread.
    template <int THREADS>
    __device__ void reduce(float* maxima, float* sums) {
        const float larger = row_reduce<Max, THREADS>(largest, maxima);
        sum = row_reduce<Sum, THREADS>(sum * __expf(largest - shift_of(larger)), sums);
        largest = larger;
    }
};
