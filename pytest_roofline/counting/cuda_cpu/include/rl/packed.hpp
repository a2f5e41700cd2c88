// Integers packed into one register: four of 8 bits or two of 16.
#pragma once

#include "core.hpp"

// F on each part; S is the type of a part.
template <class S, class F>
RL_INLINE unsigned rl_parts(unsigned a, unsigned b, F f) {
    constexpr int bits = 8 * sizeof(S);
    constexpr unsigned mask = (1u << bits) - 1;
    unsigned result = 0;
    for (int at = 0; at < 32; at += bits)
        result |= (static_cast<unsigned>(f(static_cast<int>(static_cast<S>(a >> at)), static_cast<int>(static_cast<S>(b >> at)))) & mask) << at;
    return result;
}
template <class S>
constexpr int rl_clamped(int v) {
    constexpr int low = std::is_signed_v<S> ? -(1 << (8 * sizeof(S) - 1)) : 0;
    constexpr int high = (1 << (8 * sizeof(S) - std::is_signed_v<S>)) - 1;
    return v < low ? low : v > high ? high : v;
}

#define RL_PACKED(NAME, S, EXPRESSION) \
    RL_INLINE unsigned NAME(unsigned x, unsigned y) { return rl_parts<S>(x, y, [](int a, int b) { return EXPRESSION; }); }
#define RL_PACKED_ALL(N, S, U)                                      \
    RL_PACKED(__vadd##N, U, a + b)                                  \
    RL_PACKED(__vsub##N, U, a - b)                                  \
    RL_PACKED(__vaddss##N, S, rl_clamped<S>(a + b))                 \
    RL_PACKED(__vaddus##N, U, rl_clamped<U>(a + b))                 \
    RL_PACKED(__vsubss##N, S, rl_clamped<S>(a - b))                 \
    RL_PACKED(__vsubus##N, U, rl_clamped<U>(a - b))                 \
    RL_PACKED(__vmaxs##N, S, a > b ? a : b)                         \
    RL_PACKED(__vmaxu##N, U, a > b ? a : b)                         \
    RL_PACKED(__vmins##N, S, a < b ? a : b)                         \
    RL_PACKED(__vminu##N, U, a < b ? a : b)                         \
    RL_PACKED(__vavgs##N, S, (a + b + ((a + b) >= 0)) >> 1)         \
    RL_PACKED(__vavgu##N, U, (a + b + 1) >> 1)                      \
    RL_PACKED(__vabsdiffs##N, S, a > b ? a - b : b - a)             \
    RL_PACKED(__vabsdiffu##N, U, a > b ? a - b : b - a)             \
    RL_PACKED(__vcmpeq##N, U, a == b ? -1 : 0)                      \
    RL_PACKED(__vcmpne##N, U, a != b ? -1 : 0)                      \
    RL_PACKED(__vcmpgts##N, S, a > b ? -1 : 0)                      \
    RL_PACKED(__vcmpgtu##N, U, a > b ? -1 : 0)                      \
    RL_PACKED(__vcmplts##N, S, a < b ? -1 : 0)                      \
    RL_PACKED(__vcmpltu##N, U, a < b ? -1 : 0)                      \
    RL_PACKED(__vseteq##N, U, a == b)                               \
    RL_INLINE unsigned __vabs##N(unsigned x) { return rl_parts<S>(x, 0, [](int a, int) { return a < 0 ? -a : a; }); } \
    RL_INLINE unsigned __vneg##N(unsigned x) { return rl_parts<S>(x, 0, [](int a, int) { return -a; }); }
RL_PACKED_ALL(2, short, unsigned short)
RL_PACKED_ALL(4, signed char, unsigned char)

RL_INLINE unsigned __vsadu4(unsigned x, unsigned y) {
    const unsigned parts = __vabsdiffu4(x, y);
    return (parts & 255u) + (parts >> 8 & 255u) + (parts >> 16 & 255u) + (parts >> 24);
}
RL_INLINE int __dp2a_lo(int a, int b, int c) {
    return c + static_cast<short>(a) * static_cast<signed char>(b) + (a >> 16) * static_cast<signed char>(b >> 8);
}
RL_INLINE int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
