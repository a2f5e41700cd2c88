// Operand formats of mma.sync on sm_80 and up, by element type T (float stands for tf32).
//
// One instruction takes 32 bytes of a row of a and of a column of b, whatever the format, so that an operand is a matter
// of 32-bit words: a lane's register r of a is word lane % 4 + 4 * (r / 2) of row lane / 4 + 8 * (r % 2), of b word
// lane % 4 + 4 * r of column lane / 4. Its results are in rows lane / 4 + 8 * (r / 2), columns lane % 4 * 2 + r % 2.

#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <roofline/tensor_core.cuh>

constexpr int STEP_BYTES = 32;  // of a row that one instruction multiplies

template <typename T>
struct Format;

template <>
struct Format<__half> {
    using Accumulator = float;
    using Result = __half;
    static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        roofline::mma_m16n8k16_f16(d, a, b, d);
    }
    static __device__ __half result(float x) { return __float2half(x); }
};

template <>
struct Format<__nv_bfloat16> {
    using Accumulator = float;
    using Result = __nv_bfloat16;
    static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        roofline::mma_m16n8k16_bf16(d, a, b, d);
    }
    static __device__ __nv_bfloat16 result(float x) { return __float2bfloat16(x); }
};

// The instruction ignores the low 13 bits of each word.
template <>
struct Format<float> {
    using Accumulator = float;
    using Result = float;
    static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        roofline::mma_m16n8k8_tf32(d, a, b, d);
    }
    static __device__ float result(float x) { return x; }
};

template <>
struct Format<signed char> {
    using Accumulator = int;
    using Result = int;
    static __device__ void multiply(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        roofline::mma_m16n8k32_s8(d, a, b, d);
    }
    static __device__ int result(int x) { return x; }
};

// Two neighbouring results in one store.
template <typename T, typename Accumulator>
__device__ void store_pair(typename Format<T>::Result* to, Accumulator first, Accumulator second) {
    typename Format<T>::Result pair[2] = {Format<T>::result(first), Format<T>::result(second)};
    if constexpr (sizeof(pair) == sizeof(unsigned)) {
        unsigned word;
        memcpy(&word, pair, sizeof(word));
        *reinterpret_cast<unsigned*>(to) = word;
    } else {
        uint2 words;
        memcpy(&words, pair, sizeof(words));
        *reinterpret_cast<uint2*>(to) = words;
    }
}
