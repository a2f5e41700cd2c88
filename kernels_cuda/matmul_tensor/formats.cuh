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
    static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        roofline::mma_m16n8k16_f16(d, a, b, d);
    }
};

template <>
struct Format<__nv_bfloat16> {
    using Accumulator = float;
    static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        roofline::mma_m16n8k16_bf16(d, a, b, d);
    }
};

// The instruction ignores the low 13 bits of each word.
template <>
struct Format<float> {
    using Accumulator = float;
    static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        roofline::mma_m16n8k8_tf32(d, a, b, d);
    }
};

template <>
struct Format<signed char> {
    using Accumulator = int;
    static __device__ void multiply(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        roofline::mma_m16n8k32_s8(d, a, b, d);
    }
};

// A sum as it is stored.
template <typename Result, typename Accumulator>
__device__ Result rounded(Accumulator x) {
    return x;
}
template <>
__device__ __half rounded(float x) {
    return __float2half(x);
}
template <>
__device__ __nv_bfloat16 rounded(float x) {
    return __float2bfloat16(x);
}
