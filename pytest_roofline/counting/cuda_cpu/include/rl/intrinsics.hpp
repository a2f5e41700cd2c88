// Integer, bit and conversion intrinsics, and the loads and stores with cache hints.
#pragma once

#include "vectors.hpp"

#define RL_HINTED_LOAD(NAME)                  \
    template <class T>                        \
    RL_INLINE T NAME(const T* p) {            \
        return *p;                            \
    }
#define RL_HINTED_STORE(NAME)                              \
    template <class T>                                     \
    RL_INLINE void NAME(T* p, std::common_type_t<T> v) {   \
        *p = v;                                            \
    }
RL_HINTED_LOAD(__ldg)
RL_HINTED_LOAD(__ldca)
RL_HINTED_LOAD(__ldcg)
RL_HINTED_LOAD(__ldcs)
RL_HINTED_LOAD(__ldlu)
RL_HINTED_LOAD(__ldcv)
RL_HINTED_STORE(__stwb)
RL_HINTED_STORE(__stcg)
RL_HINTED_STORE(__stcs)
RL_HINTED_STORE(__stwt)

RL_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
RL_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
RL_INLINE int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
RL_INLINE int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
RL_INLINE int __ffs(int x) { return __builtin_ffs(x); }
RL_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
RL_INLINE unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
    return __builtin_bswap32(x);
}
RL_INLINE unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 | __brev(static_cast<unsigned>(x >> 32));
}
RL_INLINE int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
RL_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFFu) * (b & 0xFFFFFFu); }
RL_INLINE int __mulhi(int a, int b) { return static_cast<int>(static_cast<int64_t>(a) * b >> 32); }
RL_INLINE unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32); }
RL_INLINE long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<__int128>(a) * b >> 64); }
RL_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
RL_INLINE int __hadd(int a, int b) { return static_cast<int>((static_cast<int64_t>(a) + b) >> 1); }
RL_INLINE int __rhadd(int a, int b) { return static_cast<int>((static_cast<int64_t>(a) + b + 1) >> 1); }
RL_INLINE unsigned __uhadd(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<uint64_t>(a) + b) >> 1); }
RL_INLINE unsigned __urhadd(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<uint64_t>(a) + b + 1) >> 1); }
RL_INLINE unsigned __sad(int a, int b, unsigned c) {
    const int64_t difference = static_cast<int64_t>(a) - b;
    return c + static_cast<unsigned>(difference < 0 ? -difference : difference);
}
RL_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }

RL_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
RL_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31));
}
RL_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
RL_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
RL_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const uint64_t bytes = static_cast<uint64_t>(y) << 32 | x;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned code = selector >> (4 * i) & 15;
        unsigned byte = static_cast<unsigned>(bytes >> (8 * (code & 7)) & 0xFF);
        if (code & 8) byte = byte & 0x80 ? 0xFF : 0;  // replicate the sign
        result |= byte << (8 * i);
    }
    return result;
}
RL_INLINE int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; ++i) c += static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i));
    return c;
}
RL_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 0xFF) * (b >> (8 * i) & 0xFF);
    return c;
}
RL_INLINE unsigned __fns(unsigned mask, unsigned base, int offset) {
    int position = static_cast<int>(base);
    if (offset == 0) return mask >> base & 1 ? base : ~0u;
    const int step = offset > 0 ? 1 : -1;
    for (int left = offset > 0 ? offset : -offset; position >= 0 && position < 32; position += step)
        if ((mask >> position & 1) && --left == 0) return static_cast<unsigned>(position);
    return ~0u;
}

// Of three, after an addition, or not below zero: what dynamic programming asks for.
RL_INLINE int __vimax3_s32(int a, int b, int c) { return a > b ? (a > c ? a : c) : (b > c ? b : c); }
RL_INLINE int __vimin3_s32(int a, int b, int c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }
RL_INLINE int __viaddmax_s32(int a, int b, int c) { return a + b > c ? a + b : c; }
RL_INLINE int __viaddmin_s32(int a, int b, int c) { return a + b < c ? a + b : c; }
RL_INLINE int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
RL_INLINE int __viaddmax_s32_relu(int a, int b, int c) { return __vimax3_s32(a + b, c, 0); }

RL_INLINE int __float_as_int(float x) { return rl_bits<int>(x); }
RL_INLINE unsigned __float_as_uint(float x) { return rl_bits<unsigned>(x); }
RL_INLINE float __int_as_float(int x) { return rl_bits<float>(x); }
RL_INLINE float __uint_as_float(unsigned x) { return rl_bits<float>(x); }
RL_INLINE long long __double_as_longlong(double x) { return rl_bits<long long>(x); }
RL_INLINE double __longlong_as_double(long long x) { return rl_bits<double>(x); }
RL_INLINE int __double2hiint(double x) { return static_cast<int>(rl_bits<uint64_t>(x) >> 32); }
RL_INLINE int __double2loint(double x) { return static_cast<int>(rl_bits<uint64_t>(x)); }
RL_INLINE double __hiloint2double(int high, int low) {
    return rl_bits<double>(static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | static_cast<uint32_t>(low));
}

// Conversions to integers saturate and turn NaN into zero, as the hardware's do.
template <class I, class F>
RL_INLINE I rl_saturate(F x) {
    if (x != x) return 0;
    const F low = static_cast<F>(std::is_signed_v<I> ? -std::ldexp(1.0, sizeof(I) * 8 - 1) : 0.0);
    const F high = static_cast<F>(std::ldexp(1.0, sizeof(I) * 8 - (std::is_signed_v<I> ? 1 : 0)));
    if (x <= low) return std::is_signed_v<I> ? static_cast<I>(static_cast<I>(1) << (sizeof(I) * 8 - 1)) : 0;
    if (x >= high) return static_cast<I>(~(std::is_signed_v<I> ? static_cast<I>(1) << (sizeof(I) * 8 - 1) : static_cast<I>(0)));
    return static_cast<I>(x);
}
#define RL_CONVERTED(...) RL_OPERATION(float, "conversion", "+r", __VA_ARGS__)
#define RL_CONVERT(FROM, F, TO, I)                                                               \
    RL_INLINE I __##FROM##2##TO##_rn(F x) { return RL_CONVERTED(rl_saturate<I>(std::nearbyint(x))); }          \
    RL_INLINE I __##FROM##2##TO##_rz(F x) { return RL_CONVERTED(rl_saturate<I>(std::trunc(x))); }              \
    RL_INLINE I __##FROM##2##TO##_ru(F x) { return RL_CONVERTED(rl_saturate<I>(std::ceil(x))); }               \
    RL_INLINE I __##FROM##2##TO##_rd(F x) { return RL_CONVERTED(rl_saturate<I>(std::floor(x))); }
RL_CONVERT(float, float, int, int)
RL_CONVERT(float, float, uint, unsigned)
RL_CONVERT(float, float, ll, long long)
RL_CONVERT(float, float, ull, unsigned long long)
RL_CONVERT(double, double, int, int)
RL_CONVERT(double, double, uint, unsigned)
RL_CONVERT(double, double, ll, long long)
RL_CONVERT(double, double, ull, unsigned long long)
#define RL_CONVERTED_REAL(TYPE, X) RL_OPERATION(float, "conversion", RL_REAL, static_cast<TYPE>(X))
RL_INLINE float __int2float_rn(int x) { return RL_CONVERTED_REAL(float, x); }
RL_INLINE float __uint2float_rn(unsigned x) { return RL_CONVERTED_REAL(float, x); }
RL_INLINE float __ll2float_rn(long long x) { return RL_CONVERTED_REAL(float, x); }
RL_INLINE float __ull2float_rn(unsigned long long x) { return RL_CONVERTED_REAL(float, x); }
RL_INLINE double __int2double_rn(int x) { return RL_CONVERTED_REAL(double, x); }
RL_INLINE double __uint2double_rn(unsigned x) { return RL_CONVERTED_REAL(double, x); }
RL_INLINE double __ll2double_rn(long long x) { return RL_CONVERTED_REAL(double, x); }
RL_INLINE double __ull2double_rn(unsigned long long x) { return RL_CONVERTED_REAL(double, x); }
RL_INLINE float __double2float_rn(double x) { return RL_CONVERTED_REAL(float, x); }

RL_INLINE long long clock64() { return rl_ticks(); }
RL_INLINE int rl_clock() { return static_cast<int>(rl_ticks()); }
#define clock rl_clock  // the C library has one
