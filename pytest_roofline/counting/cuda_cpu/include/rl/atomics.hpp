// Atomics of every type and scope: read, compute, write, with the runtime told in between.
#pragma once

#include "warp.hpp"

enum : int { RL_DEVICE_SCOPE = 0, RL_BLOCK_SCOPE = 1 };

template <int scope, bool may_poll, class T, class F>
RL_INLINE T rl_update(T* p, F next) {
    const T old = rl_unpack<T>(rl_atomic_begin(p, sizeof(T), scope));
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

RL_ATOMIC(atomicAdd, true, old + v)
RL_ATOMIC(atomicSub, true, old - v)
RL_ATOMIC(atomicMin, false, v < old ? v : old)
RL_ATOMIC(atomicMax, false, old < v ? v : old)
RL_ATOMIC(atomicAnd, true, old & v)
RL_ATOMIC(atomicOr, true, old | v)
RL_ATOMIC(atomicXor, true, old ^ v)
RL_ATOMIC(atomicInc, false, old >= v ? 0 : old + 1)
RL_ATOMIC(atomicDec, false, old == 0 || old > v ? v : old - 1)
RL_ATOMIC(atomicExch, true, v)

#define RL_ATOMIC_CAS(NAME, SCOPE)                                                                                  \
    template <class T>                                                                                              \
    RL_INLINE T NAME(T* p, rl_same<T> expected, rl_same<T> desired) {                                               \
        return rl_update<SCOPE, true>(                                                                              \
            p, [=](T old) -> T { return rl_pack(old) == rl_pack(static_cast<T>(expected)) ? static_cast<T>(desired) : old; }); \
    }
RL_ATOMIC_CAS(atomicCAS, RL_DEVICE_SCOPE)
RL_ATOMIC_CAS(atomicCAS_system, RL_DEVICE_SCOPE)
RL_ATOMIC_CAS(atomicCAS_block, RL_BLOCK_SCOPE)
