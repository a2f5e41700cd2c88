// Warp collectives. Values travel as 64-bit patterns.
#pragma once

#include "core.hpp"

// The numbers of Collective in runtime/state.hpp.
enum : uint32_t {
    RL_SHFL = 1,
    RL_SHFL_UP,
    RL_SHFL_DOWN,
    RL_SHFL_XOR,
    RL_BALLOT,
    RL_ANY,
    RL_ALL,
    RL_REDUCE_ADD,
    RL_REDUCE_MIN,
    RL_REDUCE_MAX,
    RL_REDUCE_AND,
    RL_REDUCE_OR,
    RL_REDUCE_XOR,
    RL_MATCH_ANY,
    RL_MATCH_ALL,
};

template <class T>
RL_INLINE uint64_t rl_pack(T value) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T>
RL_INLINE T rl_unpack(uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T>
RL_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = 32, RL_SITE) {
    return rl_unpack<T>(rl_shuffle(mask, rl_pack(value), source, width, RL_SHFL, line, file));
}
template <class T>
RL_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, RL_SITE) {
    return rl_unpack<T>(rl_shuffle(mask, rl_pack(value), static_cast<int>(delta), width, RL_SHFL_UP, line, file));
}
template <class T>
RL_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, RL_SITE) {
    return rl_unpack<T>(rl_shuffle(mask, rl_pack(value), static_cast<int>(delta), width, RL_SHFL_DOWN, line, file));
}
template <class T>
RL_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, RL_SITE) {
    return rl_unpack<T>(rl_shuffle(mask, rl_pack(value), lanes, width, RL_SHFL_XOR, line, file));
}

RL_INLINE unsigned __ballot_sync(unsigned mask, int predicate, RL_SITE) {
    return static_cast<unsigned>(rl_vote(mask, predicate != 0, RL_BALLOT, 0, line, file));
}
RL_INLINE int __any_sync(unsigned mask, int predicate, RL_SITE) {
    return static_cast<int>(rl_vote(mask, predicate != 0, RL_ANY, 0, line, file));
}
RL_INLINE int __all_sync(unsigned mask, int predicate, RL_SITE) {
    return static_cast<int>(rl_vote(mask, predicate != 0, RL_ALL, 0, line, file));
}

#define RL_REDUCE(NAME, CODE)                                                                                          \
    template <class T>                                                                                                 \
    RL_INLINE T NAME(unsigned mask, T value, RL_SITE) {                                                                \
        static_assert(std::is_integral_v<T> && sizeof(T) == 4, "warp reductions take 32-bit integers");                \
        return static_cast<T>(rl_vote(mask, static_cast<uint32_t>(value), CODE, std::is_signed_v<T>, line, file));     \
    }
RL_REDUCE(__reduce_add_sync, RL_REDUCE_ADD)
RL_REDUCE(__reduce_min_sync, RL_REDUCE_MIN)
RL_REDUCE(__reduce_max_sync, RL_REDUCE_MAX)
RL_REDUCE(__reduce_and_sync, RL_REDUCE_AND)
RL_REDUCE(__reduce_or_sync, RL_REDUCE_OR)
RL_REDUCE(__reduce_xor_sync, RL_REDUCE_XOR)

template <class T>
RL_INLINE unsigned __match_any_sync(unsigned mask, T value, RL_SITE) {
    return static_cast<unsigned>(rl_vote(mask, rl_pack(value), RL_MATCH_ANY, 0, line, file));
}
template <class T>
RL_INLINE unsigned __match_all_sync(unsigned mask, T value, int* predicate, RL_SITE) {
    const unsigned equal = static_cast<unsigned>(rl_vote(mask, rl_pack(value), RL_MATCH_ALL, 0, line, file));
    *predicate = equal != 0;
    return equal;
}
RL_INLINE unsigned __activemask(RL_SITE) { return rl_active_mask(line, file); }
