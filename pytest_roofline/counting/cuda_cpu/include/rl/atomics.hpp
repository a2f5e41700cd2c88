// Atomics of every type and scope: read, compute, write, with the runtime told in between.
#pragma once

#include "warp.hpp"

enum : int { RL_DEVICE_SCOPE = 0, RL_BLOCK_SCOPE = 1, RL_SWAPS = 2, RL_COUNTS = 4, RL_SPINS = 6 };  // abi.hpp

template <int kind, bool may_poll, class T, class F>
RL_INLINE T rl_update(T* p, F next) {
    const T old = rl_unpack<T>(rl_atomic_begin(p, sizeof(T), kind));
    rl_atomic_end(p, sizeof(T), rl_pack<T>(next(old)), may_poll);
    return old;
}

template <class T>
using rl_same = std::common_type_t<T>;  // takes no part in deduction

#define RL_ATOMIC_SCOPED(NAME, SCOPE, POLLS, EXPRESSION)                                                    \
    template <class T>                                                                                      \
    RL_INLINE T NAME(T* p, rl_same<T> v) {                                                                  \
        return rl_update<SCOPE, POLLS>(p, [v](T old) -> T { return static_cast<T>(EXPRESSION); });          \
    }
#define RL_ATOMIC(NAME, POLLS, EXPRESSION)                                 \
    RL_ATOMIC_SCOPED(NAME, RL_DEVICE_SCOPE, POLLS, EXPRESSION)             \
    RL_ATOMIC_SCOPED(NAME##_system, RL_DEVICE_SCOPE, POLLS, EXPRESSION)    \
    RL_ATOMIC_SCOPED(NAME##_block, RL_BLOCK_SCOPE, POLLS, EXPRESSION)

RL_ATOMIC(atomicSub, true, old - v)
RL_ATOMIC(atomicMin, false, v < old ? v : old)
RL_ATOMIC(atomicMax, false, old < v ? v : old)
RL_ATOMIC(atomicAnd, true, old & v)
RL_ATOMIC(atomicOr, true, old | v)
RL_ATOMIC(atomicXor, true, old ^ v)
RL_ATOMIC(atomicInc, false, old >= v ? 0 : old + 1)
RL_ATOMIC(atomicDec, false, old == 0 || old > v ? v : old - 1)
RL_ATOMIC(atomicExch, true, v)

// Additions: of one without a result the hardware has an instruction, of these in shared memory it has none.
template <int scope, class T>
RL_INLINE T rl_add(T* p, T v) {
    static_assert(!std::is_integral_v<T> || sizeof(T) == 4 || (sizeof(T) == 8 && std::is_unsigned_v<T>),
                  "CUDA adds integers atomically as int, unsigned int or unsigned long long: cast the pointer");
    const auto sum = [v](T old) -> T { return static_cast<T>(old + v); };
    if constexpr (std::is_same_v<T, float> || (sizeof(T) == 8 && std::is_arithmetic_v<T>)) {
        return rl_update<scope | RL_SPINS, true>(p, sum);
    } else if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
        if (!__builtin_constant_p(v) || v != T(1)) return rl_update<scope, true>(p, sum);
        return rl_unpack<T>(rl_used(rl_pack(rl_update<scope | RL_COUNTS, true>(p, sum)), p));
    } else {
        return rl_update<scope, true>(p, sum);
    }
}
#define RL_ADD(NAME, SCOPE)                      \
    template <class T>                           \
    RL_INLINE T NAME(T* p, rl_same<T> v) {       \
        return rl_add<SCOPE>(p, static_cast<T>(v)); \
    }
RL_ADD(atomicAdd, RL_DEVICE_SCOPE)
RL_ADD(atomicAdd_system, RL_DEVICE_SCOPE)
RL_ADD(atomicAdd_block, RL_BLOCK_SCOPE)

#define RL_ATOMIC_CAS(NAME, SCOPE)                                                                                  \
    template <class T>                                                                                              \
    RL_INLINE T NAME(T* p, rl_same<T> expected, rl_same<T> desired) {                                               \
        return rl_update<SCOPE | RL_SWAPS, true>(                                                                              \
            p, [=](T old) -> T { return rl_pack(old) == rl_pack(static_cast<T>(expected)) ? static_cast<T>(desired) : old; }); \
    }
RL_ATOMIC_CAS(atomicCAS, RL_DEVICE_SCOPE)
RL_ATOMIC_CAS(atomicCAS_system, RL_DEVICE_SCOPE)
RL_ATOMIC_CAS(atomicCAS_block, RL_BLOCK_SCOPE)
