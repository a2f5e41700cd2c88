#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
    __attribute__((always_inline)) inline T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    __attribute__((always_inline)) inline T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    __attribute__((always_inline)) inline T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    __attribute__((always_inline)) inline T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    __attribute__((always_inline)) inline T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    __attribute__((always_inline)) inline T operator()(T a, T b) const { return a ^ b; }
};

template <class Group, class T, class Op>
RL_INLINE T reduce(const Group& group, T value, Op op, RL_SITE) {
    // Every lane combines all values in the order of rank.
    T result = group.shfl(value, 0, line, file);
    for (unsigned rank = 1; rank < group.size(); ++rank) result = op(result, group.shfl(value, rank, line, file));
    return result;
}

}  // namespace cooperative_groups
