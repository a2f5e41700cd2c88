#pragma once
#include "rl/cuda.hpp"
#include "rl/half.hpp"
#include "rl/short_math.hpp"

RL_SHORT_FLOAT(__nv_bfloat16, rl_bfloat_from_float, rl_bfloat_to_float)
typedef __nv_bfloat16 nv_bfloat16;
RL_SHORT_PAIR(__nv_bfloat162, __nv_bfloat16)
typedef __nv_bfloat162 nv_bfloat162;
RL_SHORT_MATH(__nv_bfloat16, rl_bfloat_from_float, rl_bfloat_to_float)
RL_PAIR_MATH(__nv_bfloat162, __nv_bfloat16)
struct __nv_bfloat16_raw {
    unsigned short x;
};

RL_INLINE __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
RL_INLINE __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
RL_INLINE __nv_bfloat16 __float2bfloat16_rz(float x) {
    return __nv_bfloat16::from_bits(x != x ? 0x7FFF : static_cast<uint16_t>(rl_bits<uint32_t>(x) >> 16));
}
RL_INLINE __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
RL_INLINE __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16(x); }
RL_INLINE int __bfloat162int_rn(__nv_bfloat16 h) { return __float2int_rn(h); }
RL_INLINE int __bfloat162int_rz(__nv_bfloat16 h) { return __float2int_rz(h); }
RL_INLINE float __bfloat162float(__nv_bfloat16 h) { return h; }
RL_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short b) { return __nv_bfloat16::from_bits(b); }
RL_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.bits; }
RL_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y)); }
RL_INLINE __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(x)); }
RL_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
RL_INLINE float2 __bfloat1622float2(__nv_bfloat162 h) { return make_float2(h.x, h.y); }
RL_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
RL_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
RL_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
RL_INLINE __nv_bfloat162 __low2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.x, h.x); }
RL_INLINE __nv_bfloat162 __high2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.y); }
RL_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 h) { return h.x; }
RL_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 h) { return h.y; }
