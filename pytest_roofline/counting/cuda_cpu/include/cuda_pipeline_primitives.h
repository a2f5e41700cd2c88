#pragma once
#include "rl/cuda.hpp"
RL_INLINE void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0) {
    rl_copy_async_by_zeros(to, from, static_cast<uint32_t>(size), static_cast<uint32_t>(zeros));
}
RL_INLINE void __pipeline_commit() { rl_copy_commit(); }
RL_INLINE void __pipeline_wait_prior(size_t groups_left) { rl_copy_wait(static_cast<uint32_t>(groups_left)); }
