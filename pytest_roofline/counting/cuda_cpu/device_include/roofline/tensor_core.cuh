// ldmatrix and mma.sync for kernels that run on a GPU and on a CPU: inline PTX there, a model here.
//
// Registers are those of the PTX ISA: a 32-bit register of a or b holds two 16-bit, four 8-bit or one tf32 element.
//
//   ldmatrix<COUNT, TRANSPOSED>(r, row)  COUNT (1, 2, 4) 8x8 matrices of 16-bit elements from shared memory;
//                                        lane l names row l % 8 of matrix l / 8
//   mma_m16n8k16_f16, mma_m16n8k16_bf16  d = a b + c with fp32 accumulators
//   mma_m16n8k8_tf32                     the same for tf32 operands
//   mma_m16n8k32_s8                      the same for signed bytes and 32-bit integers
#pragma once

#ifdef PYTEST_ROOFLINE_CPU
#include "rl/tensor_core.hpp"
#else

namespace roofline {

template <int COUNT, bool TRANSPOSED = false>
__device__ __forceinline__ void ldmatrix(unsigned (&r)[COUNT], const void* row) {
    static_assert(COUNT == 1 || COUNT == 2 || COUNT == 4, "ldmatrix loads 1, 2 or 4 matrices");
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
#define ROOFLINE_LDMATRIX(X, TRANS, REGISTERS, SOURCE, ...) \
    asm volatile("ldmatrix.sync.aligned.m8n8." X TRANS ".shared.b16 {" REGISTERS "}, [" SOURCE "];" : __VA_ARGS__ : "r"(address))
#define ROOFLINE_LDMATRIX_X1(TRANS) ROOFLINE_LDMATRIX("x1", TRANS, "%0", "%1", "=r"(r[0]))
#define ROOFLINE_LDMATRIX_X2(TRANS) ROOFLINE_LDMATRIX("x2", TRANS, "%0, %1", "%2", "=r"(r[0]), "=r"(r[COUNT > 1 ? 1 : 0]))
#define ROOFLINE_LDMATRIX_X4(TRANS)                                                                      \
    ROOFLINE_LDMATRIX("x4", TRANS, "%0, %1, %2, %3", "%4", "=r"(r[0]), "=r"(r[COUNT > 1 ? 1 : 0]),       \
                      "=r"(r[COUNT > 2 ? 2 : 0]), "=r"(r[COUNT > 2 ? 3 : 0]))
    if constexpr (COUNT == 1 && TRANSPOSED) ROOFLINE_LDMATRIX_X1(".trans");
    else if constexpr (COUNT == 1) ROOFLINE_LDMATRIX_X1("");
    else if constexpr (COUNT == 2 && TRANSPOSED) ROOFLINE_LDMATRIX_X2(".trans");
    else if constexpr (COUNT == 2) ROOFLINE_LDMATRIX_X2("");
    else if constexpr (TRANSPOSED) ROOFLINE_LDMATRIX_X4(".trans");
    else ROOFLINE_LDMATRIX_X4("");
#undef ROOFLINE_LDMATRIX_X4
#undef ROOFLINE_LDMATRIX_X2
#undef ROOFLINE_LDMATRIX_X1
#undef ROOFLINE_LDMATRIX
}

#define ROOFLINE_MMA(NAME, PTX, T, CONSTRAINT)                                                                            \
    __device__ __forceinline__ void NAME(T (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const T (&c)[4]) {    \
        asm volatile("mma.sync.aligned." PTX " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"       \
                     : "=" CONSTRAINT(d[0]), "=" CONSTRAINT(d[1]), "=" CONSTRAINT(d[2]), "=" CONSTRAINT(d[3])             \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), CONSTRAINT(c[0]),                \
                       CONSTRAINT(c[1]), CONSTRAINT(c[2]), CONSTRAINT(c[3]));                                             \
    }
ROOFLINE_MMA(mma_m16n8k16_f16, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
ROOFLINE_MMA(mma_m16n8k16_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
ROOFLINE_MMA(mma_m16n8k8_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
ROOFLINE_MMA(mma_m16n8k32_s8, "m16n8k32.row.col.s32.s8.s8.s32", int, "r")
#undef ROOFLINE_MMA

}  // namespace roofline

#endif
