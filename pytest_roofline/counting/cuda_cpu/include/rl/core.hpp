// CUDA C++ for the host compiler: qualifiers, built-in variables, barriers and fences. Included before every kernel file.
#pragma once

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#define PYTEST_ROOFLINE_CPU 1
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 800
#endif
#define CUDART_VERSION 13000

// A kernel is inlined whole, so that each call of a device function is a place of its own; `inline` drops the kernels
// of the file that are not launched.
#define __global__ __attribute__((flatten, noinline)) inline
#define __device__
#define __host__
// In sections of its own, by which elf.py tells it from __device__; one for each, because const and others do not mix.
#define __constant__ RL_CONSTANT_SECTION(__COUNTER__)
#define RL_CONSTANT_SECTION(N) RL_CONSTANT_SECTION_NAMED(N)
#define RL_CONSTANT_SECTION_NAMED(N) __attribute__((section(".rl_constant." #N)))
#define __managed__
#define __shared__ thread_local  // static at block scope, and `extern __shared__` declares an array all the same
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

#define RL_INLINE static inline __attribute__((always_inline))
#define RL_UNSEEN __attribute__((no_sanitize("thread", "undefined"), no_sanitize_coverage))
#define RL_SITE int line = __builtin_LINE(), const char* file = __builtin_FILE()
#ifdef __clang__
#undef RL_UNSEEN
#define RL_UNSEEN __attribute__((no_sanitize("thread", "undefined", "coverage"), disable_sanitizer_instrumentation))
#endif

// The value of an operation on TYPE, of which a comment in the assembly says what it is (operations.py): whatever
// instructions stand for it here, one KIND is counted. CONSTRAINT is RL_REAL or "+r".
#define RL_OPERATION(TYPE, KIND, CONSTRAINT, ...)                           \
    ({                                                                      \
        auto rl_result = (__VA_ARGS__);                                     \
        asm("/* rl_op " #TYPE " " KIND " */" : CONSTRAINT(rl_result));      \
        rl_result;                                                          \
    })
#if defined(__x86_64__)
#define RL_REAL "+x"
#elif defined(__aarch64__)
#define RL_REAL "+w"
#else
#define RL_REAL "+m"
#endif

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

extern "C" {
uint3 rl_thread_index() __attribute__((const));
uint3 rl_block_index() __attribute__((const));
uint3 rl_block_extent() __attribute__((const));
uint3 rl_grid_extent() __attribute__((const));
unsigned rl_lane() __attribute__((const));
uint64_t rl_barrier(uint32_t kind, uint32_t predicate, int line, const char* file);
void rl_named_barrier(uint32_t id, uint32_t count, int waits, int line, const char* file);
void rl_syncwarp(uint32_t mask, int line, const char* file);
uint64_t rl_shuffle(uint32_t mask, uint64_t value, int argument, int width, uint32_t collective, int line, const char* file);
uint64_t rl_vote(uint32_t mask, uint64_t value, uint32_t collective, int is_signed, int line, const char* file);
void rl_lanes(void* data, void (*function)(void* const*, uint32_t), int line, const char* file);
uint32_t rl_active_mask(int line, const char* file);
void rl_fence(int device);
void rl_poll();
int64_t rl_ticks();
uint64_t rl_atomic_begin(const void* p, uint32_t size, int kind);
uint64_t rl_used(uint64_t result, const void* p) __attribute__((const));
void rl_atomic_end(void* p, uint32_t size, uint64_t value, int may_poll);
void rl_access(const void* p, uint32_t size, int kind, uint64_t pc, uint32_t piece);
void rl_copy_async(void* destination, const void* source, uint32_t size, uint32_t zeros);
void rl_copy_async_by_zeros(void* destination, const void* source, uint32_t size, uint32_t zeros);
void rl_copy_commit();
void rl_copy_wait(uint32_t groups_left);
int rl_is_shared(const void* p) __attribute__((const));
int rl_is_global(const void* p) __attribute__((const));
void rl_count_tensor(const char* pipeline, uint64_t flops, int line, const char* file);
void rl_fail(uint32_t kind, const char* text, int line, const char* file);
}

// The numbers of Kind in runtime/abi.hpp that device code reports itself.
enum : uint32_t { RL_WARP_MATRIX = 13, RL_TRAP = 16, RL_UNSUPPORTED = 21, RL_UNSET = 23 };

#define threadIdx (rl_thread_index())
#define blockIdx (rl_block_index())
#define blockDim (dim3(rl_block_extent()))
#define gridDim (dim3(rl_grid_extent()))
static constexpr int warpSize = 32;

RL_INLINE void __syncthreads(RL_SITE) { rl_barrier(0, 0, line, file); }
RL_INLINE int __syncthreads_count(int predicate, RL_SITE) {
    return static_cast<int>(rl_barrier(1, predicate != 0, line, file));
}
RL_INLINE int __syncthreads_and(int predicate, RL_SITE) { return static_cast<int>(rl_barrier(2, predicate != 0, line, file)); }
RL_INLINE int __syncthreads_or(int predicate, RL_SITE) { return static_cast<int>(rl_barrier(3, predicate != 0, line, file)); }
RL_INLINE void __barrier_sync(unsigned id, RL_SITE) { rl_named_barrier(id, 0, 1, line, file); }
RL_INLINE void __barrier_sync_count(unsigned id, unsigned count, RL_SITE) { rl_named_barrier(id, count, 1, line, file); }
RL_INLINE void __syncwarp(unsigned mask = 0xFFFFFFFFu, RL_SITE) { rl_syncwarp(mask, line, file); }
RL_INLINE void __threadfence() { rl_fence(1); }
RL_INLINE void __threadfence_system() { rl_fence(1); }
RL_INLINE void __threadfence_block() { rl_fence(0); }
RL_INLINE void __nanosleep(unsigned) { rl_poll(); }
RL_INLINE void __trap(RL_SITE) { rl_fail(RL_TRAP, "__trap()", line, file); }
RL_INLINE void __brkpt() {}
#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif
RL_INLINE bool __isShared(const void* p) { return rl_is_shared(p); }
RL_INLINE bool __isGlobal(const void* p) { return rl_is_global(p); }
RL_INLINE size_t __cvta_generic_to_shared(const void* p) { return reinterpret_cast<size_t>(p); }
RL_INLINE size_t __cvta_generic_to_global(const void* p) { return reinterpret_cast<size_t>(p); }
RL_INLINE void* __cvta_shared_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
RL_INLINE void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
#define __prof_trigger(n) ((void)(n))

#define assert(condition) ((condition) ? (void)0 : rl_fail(RL_TRAP, "assertion failed: " #condition, __LINE__, __FILE__))

template <class To, class From>
RL_INLINE To rl_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
