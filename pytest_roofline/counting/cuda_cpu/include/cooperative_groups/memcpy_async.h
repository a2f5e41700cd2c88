// Copies into shared memory by a whole group, as cp.async of the widest pieces that both addresses allow.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group>
RL_INLINE void memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
    const uintptr_t alignment = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes;
    if (alignment % 4) {  // too narrow for cp.async: copied at once
        for (size_t at = group.thread_rank(); at < bytes; at += group.size())
            static_cast<char*>(to)[at] = static_cast<const char*>(from)[at];
        return;
    }
    const size_t piece = alignment % 16 == 0 ? 16 : alignment % 8 == 0 ? 8 : 4;
    for (size_t at = group.thread_rank() * piece; at < bytes; at += group.size() * piece)
        rl_copy_async(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, static_cast<uint32_t>(piece), 0);
    rl_copy_commit();
}
template <class Group>
RL_INLINE void wait(const Group& group, RL_SITE) {
    rl_copy_wait(0);
    group.sync(line, file);
}
template <unsigned Stages, class Group>
RL_INLINE void wait_prior(const Group& group, RL_SITE) {
    rl_copy_wait(Stages);
    group.sync(line, file);
}

}  // namespace cooperative_groups
