// wgmma: a warpgroup multiplies 64 rows of a by 256 columns of b, both in shared memory, into registers.
// Layouts of operands and accumulators: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"; sm_90a.
#pragma once

#include "hopper.cuh"

#ifndef WGMMA_COLUMNS
#define WGMMA_COLUMNS 256  // or any other multiple of 16, for products that wide tiles fit badly
#endif

constexpr int WGMMA_M = 64;
constexpr int WGMMA_N = WGMMA_COLUMNS;
constexpr int WGMMA_K_BYTES = 32;  // of k that one instruction multiplies
constexpr int ACCUMULATORS = WGMMA_M * WGMMA_N / WARPGROUP;  // of one thread

// ---- Descriptors of operands whose rows of 128 bytes are swizzled; groups of eight rows are 1024 bytes apart.

__device__ __forceinline__ unsigned long long describe(unsigned address, unsigned leading_bytes) {
    constexpr unsigned long long SWIZZLE_128 = 1ull << 62;
    constexpr unsigned long long EIGHT_ROWS = 8 * SWIZZLE_BYTES;
    return SWIZZLE_128 | (EIGHT_ROWS >> 4) << 32 | static_cast<unsigned long long>(leading_bytes >> 4) << 16 |
           (address & 0x3ffff) >> 4;
}

// The descriptor of what lies `bytes` further.
__device__ __forceinline__ unsigned long long further(unsigned long long descriptor, unsigned bytes) {
    return descriptor + (bytes >> 4);
}

// ---- Order: registers are handed to the tensor cores, groups of wgmma are awaited.

__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Until at most `PENDING` groups are still running.
template <int PENDING>
__device__ __forceinline__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// The compiler may not move a use of the accumulators across this.
__device__ __forceinline__ void pin(float (&d)[ACCUMULATORS]) {
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; ++i) {
        asm volatile("" : "+f"(d[i])::"memory");
    }
}

__device__ __forceinline__ void pin(int (&d)[ACCUMULATORS]) {
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; ++i) {
        asm volatile("" : "+r"(d[i])::"memory");
    }
}

// ---- The instruction, for each kind of operand: d = a b, or d += a b.

// By columns, of which a thread has half as many accumulators. The other operands stand before them, so that their
// numbers are the same for all; that they count as written costs nothing, because each is used once.
#define NUMBERS_16 "%3, %4, %5, %6, %7, %8, %9, %10"
#define NUMBERS_32 NUMBERS_16 ", %11, %12, %13, %14, %15, %16, %17, %18"
#define NUMBERS_48 NUMBERS_32 ", %19, %20, %21, %22, %23, %24, %25, %26"
#define NUMBERS_64 NUMBERS_48 ", %27, %28, %29, %30, %31, %32, %33, %34"
#define NUMBERS_80 NUMBERS_64 ", %35, %36, %37, %38, %39, %40, %41, %42"
#define NUMBERS_96 NUMBERS_80 ", %43, %44, %45, %46, %47, %48, %49, %50"
#define NUMBERS_112 NUMBERS_96 ", %51, %52, %53, %54, %55, %56, %57, %58"
#define NUMBERS_128 NUMBERS_112 ", %59, %60, %61, %62, %63, %64, %65, %66"
#define NUMBERS_144 NUMBERS_128 ", %67, %68, %69, %70, %71, %72, %73, %74"
#define NUMBERS_160 NUMBERS_144 ", %75, %76, %77, %78, %79, %80, %81, %82"
#define NUMBERS_176 NUMBERS_160 ", %83, %84, %85, %86, %87, %88, %89, %90"
#define NUMBERS_192 NUMBERS_176 ", %91, %92, %93, %94, %95, %96, %97, %98"
#define NUMBERS_208 NUMBERS_192 ", %99, %100, %101, %102, %103, %104, %105, %106"
#define NUMBERS_224 NUMBERS_208 ", %107, %108, %109, %110, %111, %112, %113, %114"
#define NUMBERS_240 NUMBERS_224 ", %115, %116, %117, %118, %119, %120, %121, %122"
#define NUMBERS_256 NUMBERS_240 ", %123, %124, %125, %126, %127, %128, %129, %130"

#define BOUND_FOUR(kind, i) kind(d[i]), kind(d[i + 1]), kind(d[i + 2]), kind(d[i + 3])
#define BOUND_EIGHT(kind, i) BOUND_FOUR(kind, i), BOUND_FOUR(kind, i + 4)
#define BOUND_16(kind) BOUND_EIGHT(kind, 0)
#define BOUND_32(kind) BOUND_16(kind), BOUND_EIGHT(kind, 8)
#define BOUND_48(kind) BOUND_32(kind), BOUND_EIGHT(kind, 16)
#define BOUND_64(kind) BOUND_48(kind), BOUND_EIGHT(kind, 24)
#define BOUND_80(kind) BOUND_64(kind), BOUND_EIGHT(kind, 32)
#define BOUND_96(kind) BOUND_80(kind), BOUND_EIGHT(kind, 40)
#define BOUND_112(kind) BOUND_96(kind), BOUND_EIGHT(kind, 48)
#define BOUND_128(kind) BOUND_112(kind), BOUND_EIGHT(kind, 56)
#define BOUND_144(kind) BOUND_128(kind), BOUND_EIGHT(kind, 64)
#define BOUND_160(kind) BOUND_144(kind), BOUND_EIGHT(kind, 72)
#define BOUND_176(kind) BOUND_160(kind), BOUND_EIGHT(kind, 80)
#define BOUND_192(kind) BOUND_176(kind), BOUND_EIGHT(kind, 88)
#define BOUND_208(kind) BOUND_192(kind), BOUND_EIGHT(kind, 96)
#define BOUND_224(kind) BOUND_208(kind), BOUND_EIGHT(kind, 104)
#define BOUND_240(kind) BOUND_224(kind), BOUND_EIGHT(kind, 112)
#define BOUND_256(kind) BOUND_240(kind), BOUND_EIGHT(kind, 120)

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define NUMBERS JOINED(NUMBERS_, WGMMA_COLUMNS)
#define BOUND JOINED(BOUND_, WGMMA_COLUMNS)

// `tail` scales by one what is floating point, and says which operands are transposed where that is possible.
#define WGMMA(k_and_types, tail, kind)                                                              \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %2, 0;\n"                                    \
                 "wgmma.mma_async.sync.aligned.m64n" TEXT(WGMMA_COLUMNS) k_and_types " {" NUMBERS   \
                 "}, %0, %1, add" tail ";\n}"                                                       \
                 : "+l"(a), "+l"(b), "+r"(add), BOUND(kind))

__device__ __forceinline__ unsigned as_bits(float x) { return __float_as_uint(x); }
__device__ __forceinline__ unsigned as_bits(int x) { return static_cast<unsigned>(x); }

struct F16 {
    using Accumulator = float;
    static constexpr int BYTES = 2;
    template <bool B_BY_COLUMNS>
    static __device__ __forceinline__ void multiply(float (&d)[ACCUMULATORS], unsigned long long a,
                                                    unsigned long long b, int add) {
        if constexpr (!B_BY_COLUMNS) {
            WGMMA("k16.f32.f16.f16", ", 1, 1, 0, 1", "+f");
        } else {
            WGMMA("k16.f32.f16.f16", ", 1, 1, 0, 0", "+f");
        }
    }
    static __device__ __forceinline__ unsigned pack(float low, float high) {
        unsigned both;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
        return both;
    }
};

struct BF16 {
    using Accumulator = float;
    static constexpr int BYTES = 2;
    template <bool B_BY_COLUMNS>
    static __device__ __forceinline__ void multiply(float (&d)[ACCUMULATORS], unsigned long long a,
                                                    unsigned long long b, int add) {
        if constexpr (!B_BY_COLUMNS) {
            WGMMA("k16.f32.bf16.bf16", ", 1, 1, 0, 1", "+f");
        } else {
            WGMMA("k16.f32.bf16.bf16", ", 1, 1, 0, 0", "+f");
        }
    }
    static __device__ __forceinline__ unsigned pack(float low, float high) {
        unsigned both;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
        return both;
    }
};

struct TF32 {
    using Accumulator = float;
    static constexpr int BYTES = 4;
    template <bool B_BY_COLUMNS>
    static __device__ __forceinline__ void multiply(float (&d)[ACCUMULATORS], unsigned long long a,
                                                    unsigned long long b, int add) {
        static_assert(B_BY_COLUMNS, "only operands of 16 bits can be transposed");
        WGMMA("k8.f32.tf32.tf32", ", 1, 1", "+f");
    }
};

struct E4M3 {
    using Accumulator = float;
    static constexpr int BYTES = 1;
    template <bool B_BY_COLUMNS>
    static __device__ __forceinline__ void multiply(float (&d)[ACCUMULATORS], unsigned long long a,
                                                    unsigned long long b, int add) {
        static_assert(B_BY_COLUMNS, "only operands of 16 bits can be transposed");
        WGMMA("k32.f32.e4m3.e4m3", ", 1, 1", "+f");
    }
};

struct I8 {
    using Accumulator = int;
    static constexpr int BYTES = 1;
    template <bool B_BY_COLUMNS>
    static __device__ __forceinline__ void multiply(int (&d)[ACCUMULATORS], unsigned long long a,
                                                    unsigned long long b, int add) {
        static_assert(B_BY_COLUMNS, "only operands of 16 bits can be transposed");
        WGMMA("k32.s32.s8.s8", "", "+r");
    }
};

#undef WGMMA
