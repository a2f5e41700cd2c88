// Scans over the lanes of a group, in the order of rank.
#pragma once
#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Op>
RL_INLINE T inclusive_scan(const Group& group, T value, Op op, RL_SITE) {
    const unsigned rank = group.thread_rank();
    T result = value;
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        const T before = group.shfl_up(result, distance, line, file);
        if (rank >= distance) result = op(before, result);
    }
    return result;
}
template <class Group, class T>
RL_INLINE T inclusive_scan(const Group& group, T value, RL_SITE) {
    return inclusive_scan(group, value, plus<T>(), line, file);
}
// The first lane gets T().
template <class Group, class T, class Op>
RL_INLINE T exclusive_scan(const Group& group, T value, Op op, RL_SITE) {
    const T before = group.shfl_up(inclusive_scan(group, value, op, line, file), 1, line, file);
    return group.thread_rank() ? before : T();
}
template <class Group, class T>
RL_INLINE T exclusive_scan(const Group& group, T value, RL_SITE) {
    return exclusive_scan(group, value, plus<T>(), line, file);
}

}  // namespace cooperative_groups
