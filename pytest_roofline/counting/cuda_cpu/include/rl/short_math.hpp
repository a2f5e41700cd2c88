// Functions of the 16-bit formats beyond their arithmetic, one element and pairs.
#pragma once

#include "half.hpp"

// One 16-bit format: TYPE, FROM and TO as in half.hpp.
#define RL_SHORT_FUNCTION(TYPE, NAME, KIND, FROM, TO, EXPRESSION)              \
    RL_INLINE TYPE NAME(TYPE h) {                                              \
        const float a = TO(h.bits);                                            \
        return RL_ROUNDED(TYPE, KIND, FROM, static_cast<float>(EXPRESSION));   \
    }
#define RL_SHORT_MATH(TYPE, FROM, TO)                                                                              \
    RL_SHORT_FUNCTION(TYPE, hceil, "conversion", FROM, TO, __builtin_ceilf(a))                                     \
    RL_SHORT_FUNCTION(TYPE, hfloor, "conversion", FROM, TO, __builtin_floorf(a))                                   \
    RL_SHORT_FUNCTION(TYPE, htrunc, "conversion", FROM, TO, __builtin_truncf(a))                                   \
    RL_SHORT_FUNCTION(TYPE, hrint, "conversion", FROM, TO, __builtin_rintf(a))                                     \
    RL_SHORT_FUNCTION(TYPE, hsin, "special", FROM, TO, __builtin_sinf(a))                                          \
    RL_SHORT_FUNCTION(TYPE, hcos, "special", FROM, TO, __builtin_cosf(a))                                          \
    RL_SHORT_FUNCTION(TYPE, htanh, "special", FROM, TO, __builtin_tanhf(a))                                        \
    RL_SHORT_FUNCTION(TYPE, hexp2, "special", FROM, TO, __builtin_exp2f(a))                                        \
    RL_SHORT_FUNCTION(TYPE, hexp10, "special", FROM, TO, __builtin_powf(10.0f, a))                                 \
    RL_SHORT_FUNCTION(TYPE, hlog2, "special", FROM, TO, __builtin_log2f(a))                                        \
    RL_SHORT_FUNCTION(TYPE, hlog10, "special", FROM, TO, __builtin_log10f(a))                                      \
    RL_INLINE bool __hisinf(TYPE h) { return __builtin_isinf(TO(h.bits)); }                                        \
    RL_INLINE TYPE __hmax_nan(TYPE a, TYPE b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }         \
    RL_INLINE TYPE __hmin_nan(TYPE a, TYPE b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }         \
    RL_INLINE TYPE rl_saturated(TYPE h) {                                                                          \
        return TYPE::from_bits(FROM(TO(h.bits) > 0 ? __builtin_fminf(TO(h.bits), 1.0f) : 0.0f));                   \
    }                                                                                                              \
    RL_INLINE TYPE __hadd_sat(TYPE a, TYPE b) { return rl_saturated(a + b); }                                      \
    RL_INLINE TYPE __hsub_sat(TYPE a, TYPE b) { return rl_saturated(a - b); }                                      \
    RL_INLINE TYPE __hmul_sat(TYPE a, TYPE b) { return rl_saturated(a * b); }                                      \
    RL_INLINE TYPE __hfma_sat(TYPE a, TYPE b, TYPE c) { return rl_saturated(__hfma(a, b, c)); }                    \
    RL_INLINE TYPE __hfma_relu(TYPE a, TYPE b, TYPE c) {                                                           \
        const TYPE h = __hfma(a, b, c);                                                                            \
        return h.bits >> 15 ? TYPE::from_bits(0) : h;                                                              \
    }

#define RL_PAIR_OF_ONE(PAIR, NAME, ONE) \
    RL_INLINE PAIR NAME(PAIR h) { return PAIR(ONE(h.x), ONE(h.y)); }
#define RL_PAIR_COMPARED(PAIR, TYPE, WHICH, ONE)                                                                   \
    RL_INLINE PAIR __h##WHICH##2(PAIR a, PAIR b) {                                                                 \
        return PAIR(TYPE(ONE(a.x, b.x) ? 1.0f : 0.0f), TYPE(ONE(a.y, b.y) ? 1.0f : 0.0f));                         \
    }                                                                                                              \
    RL_INLINE bool __hb##WHICH##2(PAIR a, PAIR b) { return ONE(a.x, b.x) && ONE(a.y, b.y); }
#define RL_PAIR_MATH(PAIR, TYPE)                                                                                   \
    RL_PAIR_OF_ONE(PAIR, __habs2, __habs) RL_PAIR_OF_ONE(PAIR, __hneg2, __hneg) RL_PAIR_OF_ONE(PAIR, h2sqrt, hsqrt) \
    RL_PAIR_OF_ONE(PAIR, h2rsqrt, hrsqrt) RL_PAIR_OF_ONE(PAIR, h2rcp, hrcp) RL_PAIR_OF_ONE(PAIR, h2log, hlog)      \
    RL_PAIR_OF_ONE(PAIR, h2exp, hexp) RL_PAIR_OF_ONE(PAIR, h2exp2, hexp2) RL_PAIR_OF_ONE(PAIR, h2log2, hlog2)      \
    RL_PAIR_OF_ONE(PAIR, h2sin, hsin) RL_PAIR_OF_ONE(PAIR, h2cos, hcos) RL_PAIR_OF_ONE(PAIR, h2tanh, htanh)        \
    RL_PAIR_OF_ONE(PAIR, h2ceil, hceil) RL_PAIR_OF_ONE(PAIR, h2floor, hfloor) RL_PAIR_OF_ONE(PAIR, h2rint, hrint)  \
    RL_PAIR_COMPARED(PAIR, TYPE, eq, __heq) RL_PAIR_COMPARED(PAIR, TYPE, ne, __hne)                                \
    RL_PAIR_COMPARED(PAIR, TYPE, lt, __hlt) RL_PAIR_COMPARED(PAIR, TYPE, le, __hle)                                \
    RL_PAIR_COMPARED(PAIR, TYPE, gt, __hgt) RL_PAIR_COMPARED(PAIR, TYPE, ge, __hge)                                \
    RL_INLINE PAIR __h2div(PAIR a, PAIR b) { return PAIR(a.x / b.x, a.y / b.y); }                                  \
    RL_INLINE PAIR operator/(PAIR a, PAIR b) { return __h2div(a, b); }                                             \
    RL_INLINE PAIR operator-(PAIR a) { return __hneg2(a); }                                                        \
    RL_INLINE PAIR& operator-=(PAIR& a, PAIR b) { return a = a - b; }                                              \
    RL_INLINE PAIR __hmax2_nan(PAIR a, PAIR b) { return PAIR(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)); }        \
    RL_INLINE PAIR __hmin2_nan(PAIR a, PAIR b) { return PAIR(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)); }        \
    RL_INLINE PAIR __hfma2_relu(PAIR a, PAIR b, PAIR c) {                                                          \
        return PAIR(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));                                       \
    }                                                                                                              \
    RL_INLINE PAIR __hadd2_sat(PAIR a, PAIR b) { return PAIR(__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)); }        \
    RL_INLINE PAIR __hsub2_sat(PAIR a, PAIR b) { return PAIR(__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)); }        \
    RL_INLINE PAIR __hmul2_sat(PAIR a, PAIR b) { return PAIR(__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)); }        \
    RL_INLINE bool operator==(PAIR a, PAIR b) { return __hbeq2(a, b); }                                            \
    RL_INLINE bool operator!=(PAIR a, PAIR b) { return !(a == b); }                                                \
    RL_INLINE PAIR __lowhigh2highlow(PAIR a) { return PAIR(a.y, a.x); }                                            \
    RL_INLINE PAIR __lows2half2(PAIR a, PAIR b) { return PAIR(a.x, b.x); }                                         \
    RL_INLINE PAIR __highs2half2(PAIR a, PAIR b) { return PAIR(a.y, b.y); }
