#pragma once
#include "rl/cuda.hpp"
#include "rl/half.hpp"
#include "rl/short_math.hpp"

RL_SHORT_FLOAT(__half, rl_half_from_float, rl_half_to_float)
typedef __half half;
RL_SHORT_PAIR(__half2, __half)
typedef __half2 half2;
RL_SHORT_MATH(__half, rl_half_from_float, rl_half_to_float)
RL_PAIR_MATH(__half2, __half)
struct __half_raw {
    unsigned short x;
};

RL_INLINE __half __float2half(float x) { return __half(x); }
RL_INLINE __half __float2half_rn(float x) { return __half(x); }
RL_INLINE __half __double2half(double x) { return __half(x); }
RL_INLINE float __half2float(__half h) { return h; }
RL_INLINE __half __int2half_rn(int x) { return __half(x); }
RL_INLINE __half __uint2half_rn(unsigned x) { return __half(x); }
RL_INLINE __half __float2half_rz(float x) {
    const __half nearest(x);
    return __builtin_fabsf(rl_half_to_float(nearest.bits)) > __builtin_fabsf(x) ? __half::from_bits(nearest.bits - 1) : nearest;
}
RL_INLINE unsigned __half2uint_rz(__half h) { return __float2uint_rz(h); }
RL_INLINE short __half2short_rz(__half h) { return static_cast<short>(__float2int_rz(h)); }
RL_INLINE int __half2int_rn(__half h) { return __float2int_rn(h); }
RL_INLINE int __half2int_rz(__half h) { return __float2int_rz(h); }
RL_INLINE __half __ushort_as_half(unsigned short b) { return __half::from_bits(b); }
RL_INLINE __half __short_as_half(short b) { return __half::from_bits(static_cast<uint16_t>(b)); }
RL_INLINE unsigned short __half_as_ushort(__half h) { return h.bits; }
RL_INLINE short __half_as_short(__half h) { return static_cast<short>(h.bits); }
RL_INLINE __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
RL_INLINE __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
RL_INLINE __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
RL_INLINE float2 __half22float2(__half2 h) { return make_float2(h.x, h.y); }
RL_INLINE __half2 make_half2(__half x, __half y) { return __half2(x, y); }
RL_INLINE __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
RL_INLINE __half2 __half2half2(__half x) { return __half2(x, x); }
RL_INLINE __half __low2half(__half2 h) { return h.x; }
RL_INLINE __half __high2half(__half2 h) { return h.y; }
