// cp.async for kernels that run on a GPU and on a CPU: one instruction of inline PTX there, the runtime's model here.
//
//   copy_async<BYTES>(to, from, taken)  BYTES (4, 8 or 16) to shared memory, the first `taken` from global memory and zeros
//                                       after them; 16 bytes go past the level-1 cache. Of no bytes `from` is not read.
//   copy_async_commit()                 ends a group
//   copy_async_wait<LEFT>()             returns when at most LEFT of this thread's groups are still on their way
//
// CUDA's __pipeline_memcpy_async takes a number of zeros, too, but branches over it where the compiler does not know it.
#pragma once

namespace roofline {

template <int BYTES>
__device__ __forceinline__ void copy_async(void* to, const void* from, int taken = BYTES) {
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async copies 4, 8 or 16 bytes");
#ifdef PYTEST_ROOFLINE_CPU
    rl_copy_async(to, from, BYTES, static_cast<uint32_t>(BYTES - taken));
#else
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (BYTES == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(taken) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(BYTES), "r"(taken)
                     : "memory");
    }
#endif
}

__device__ __forceinline__ void copy_async_commit() {
#ifdef PYTEST_ROOFLINE_CPU
    rl_copy_commit();
#else
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int LEFT>
__device__ __forceinline__ void copy_async_wait() {
#ifdef PYTEST_ROOFLINE_CPU
    rl_copy_wait(LEFT);
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
}

}  // namespace roofline
