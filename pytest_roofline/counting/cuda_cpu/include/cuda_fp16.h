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
RL_INLINE __half __float2half_rd(float x) {
    const __half nearest(x);
    if (rl_half_to_float(nearest.bits) <= x || x != x) return nearest;
    return nearest.bits == 0 ? __half::from_bits(0x8001) : __half::from_bits(nearest.bits + (nearest.bits >> 15 ? 1 : -1));
}
RL_INLINE __half __float2half_ru(float x) { return -__float2half_rd(-x); }
RL_INLINE __half __short2half_rn(short x) { return __half(static_cast<int>(x)); }
RL_INLINE __half __ushort2half_rn(unsigned short x) { return __half(static_cast<unsigned>(x)); }
RL_INLINE __half __ll2half_rn(long long x) { return __half(x); }
RL_INLINE unsigned __half2uint_rn(__half h) { return __float2uint_rn(h); }
RL_INLINE short __half2short_rn(__half h) { return rl_saturate<short>(std::nearbyint(static_cast<float>(h))); }
RL_INLINE unsigned short __half2ushort_rn(__half h) { return rl_saturate<unsigned short>(std::nearbyint(static_cast<float>(h))); }
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
RL_INLINE __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
RL_INLINE __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
RL_INLINE __half2 __hcmadd(__half2 a, __half2 b, __half2 c) {  // complex: (x, y) is x + i y
    return __half2(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
RL_INLINE __half __low2half(__half2 h) { return h.x; }
RL_INLINE __half __high2half(__half2 h) { return h.y; }
