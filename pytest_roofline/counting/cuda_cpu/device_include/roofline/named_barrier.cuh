// Named barriers for kernels that run on a GPU and on a CPU: inline PTX there, the runtime's model here.
//
//   named_barrier_sync(id, threads)    waits until `threads` threads (a multiple of 32) have come to barrier `id` (0 to 15)
//   named_barrier_arrive(id, threads)  counts as one of them and goes on
#pragma once

namespace roofline {

#ifdef PYTEST_ROOFLINE_CPU
RL_INLINE void named_barrier_sync(unsigned id, unsigned threads, RL_SITE) { rl_named_barrier(id, threads, 1, line, file); }
RL_INLINE void named_barrier_arrive(unsigned id, unsigned threads, RL_SITE) { rl_named_barrier(id, threads, 0, line, file); }
#else
__device__ __forceinline__ void named_barrier_sync(unsigned id, unsigned threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void named_barrier_arrive(unsigned id, unsigned threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
#endif

}  // namespace roofline
