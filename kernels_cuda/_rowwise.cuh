// What the row-wise kernels share: accesses of 16 bytes or one element, and reductions over the threads of a row.

#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>
#include <roofline/evict_last.cuh>

// What a thread moves at once: 16 bytes of elements, or a single one where rows are misaligned.
template <typename T, int WIDTH>
struct Access {
    using Word = uint4;
};

template <typename T>
struct Access<T, 1> {
    using Word = T;
};

template <typename T, int WIDTH>
__device__ void unpack(typename Access<T, WIDTH>::Word word, float (&value)[WIDTH]) {
    const T* element = reinterpret_cast<const T*>(&word);
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) {
        value[k] = static_cast<float>(element[k]);
    }
}

// Word number `i` of a row. Streaming hints were slower on an H200: __ldcs by 3 to 6 us of 132 at 8192 x 8192 f32, __stcs
// by up to 2.
template <typename T, int WIDTH>
__device__ void load(const T* __restrict__ row, long long i, float (&value)[WIDTH]) {
    unpack<T, WIDTH>(reinterpret_cast<const typename Access<T, WIDTH>::Word*>(row)[i], value);
}

template <typename T, int WIDTH>
__device__ void store(T* row, long long i, const float (&value)[WIDTH]) {
    typename Access<T, WIDTH>::Word word;
    T* element = reinterpret_cast<T*>(&word);
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) {
        element[k] = static_cast<T>(value[k]);
    }
    reinterpret_cast<typename Access<T, WIDTH>::Word*>(row)[i] = word;
}

struct Sum {
    static __device__ float identity() { return 0.0f; }
    static __device__ float combine(float a, float b) { return a + b; }
};

struct Max {
    static __device__ float identity() { return -CUDART_INF_F; }
    static __device__ float combine(float a, float b) { return fmaxf(a, b); }
};

// Lanes of a warp that belong to one row of THREADS threads.
template <int THREADS>
constexpr int LANES = THREADS < 32 ? THREADS : 32;

// Over so many neighbouring lanes of a warp; each of them has the result.
template <typename Operator, int COUNT = 32>
__device__ float warp_reduce(float value) {
#pragma unroll
    for (int distance = COUNT / 2; distance > 0; distance /= 2) {
        value = Operator::combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    return value;
}

// Over the THREADS threads of a row: a warp or a part of it, or the whole block. Every thread has the result. `partial`
// lies in shared memory, one entry per warp; it serves one reduction.
template <typename Operator, int THREADS>
__device__ float row_reduce(float value, float* partial) {
    value = warp_reduce<Operator, LANES<THREADS>>(value);
    if (THREADS > 32) {
        const int lane = threadIdx.x % 32;
        if (lane == 0) {
            partial[threadIdx.x / 32] = value;
        }
        __syncthreads();
        value = warp_reduce<Operator>(lane < THREADS / 32 ? partial[lane] : Operator::identity());
    }
    return value;
}

// What this thread has of the sum of term(x) over the words of a row that THREADS threads share. A chain of f32 additions
// loses what is small against the sum so far, so that one ends after CHUNK words and another begins; the element of a word
// decides on the chain.
template <typename Result, typename T, int WIDTH, int THREADS, typename Term>
__device__ Result long_sum(const T* __restrict__ row, long long words, Term term) {
    constexpr int CHUNK = 256;
    Result sum{};
    for (long long start = threadIdx.x; start < words; start += CHUNK * THREADS) {
        const T* from = row + start * WIDTH;
        const int end = static_cast<int>(min(words - start, static_cast<long long>(CHUNK * THREADS)));
        Result part[WIDTH] = {};
#pragma unroll 4
        for (int i = 0; i < end; i += THREADS) {
            float value[WIDTH];
            load<T, WIDTH>(from, i, value);
#pragma unroll
            for (int k = 0; k < WIDTH; ++k) {
                part[k] += term(value[k]);
            }
        }
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            sum += part[k];
        }
    }
    return sum;
}
