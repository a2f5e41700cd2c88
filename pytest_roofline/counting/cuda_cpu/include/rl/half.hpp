// Conversions between float and the 16-bit formats, rounded to nearest even as on the GPU.
#pragma once

#include "vectors.hpp"

#ifdef __F16C__  // <immintrin.h> itself would take half the time of compiling a kernel
typedef short rl_shorts __attribute__((vector_size(16)));
typedef float rl_floats __attribute__((vector_size(16)));
#endif

// binary16 from float; the software path serves CPUs without conversion instructions.
RL_INLINE uint16_t rl_half_from_float(float x) {
#if defined(__F16C__)
    return static_cast<uint16_t>(__builtin_ia32_vcvtps2ph(rl_floats{x, 0, 0, 0}, 0)[0]);
#elif defined(__aarch64__)
    return rl_bits<uint16_t>(static_cast<__fp16>(x));
#else
    const uint32_t bits = rl_bits<uint32_t>(x), sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u | (magnitude >> 13 & 0x3FFu));
    if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7C00u);
    if (magnitude < 0x38800000u) {  // subnormal: let float addition do the rounding
        const float shifted = rl_bits<float>(magnitude) + 0.5f;
        return static_cast<uint16_t>(sign | (rl_bits<uint32_t>(shifted) - 0x3F000000u));
    }
    const uint32_t rounded = magnitude + 0xC8000FFFu + (magnitude >> 13 & 1);
    return static_cast<uint16_t>(sign | rounded >> 13);
#endif
}
RL_INLINE float rl_half_to_float(uint16_t h) {
#if defined(__F16C__)
    return __builtin_ia32_vcvtph2ps(rl_shorts{static_cast<short>(h)})[0];
#elif defined(__aarch64__)
    return static_cast<float>(rl_bits<__fp16>(h));
#else
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16, magnitude = h & 0x7FFFu;
    if (magnitude >= 0x7C00u) return rl_bits<float>(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13);
    const float scaled = rl_bits<float>(magnitude << 13) * 0x1p112f;
    return rl_bits<float>(sign | rl_bits<uint32_t>(scaled));
#endif
}
RL_INLINE uint16_t rl_bfloat_from_float(float x) {
    const uint32_t bits = rl_bits<uint32_t>(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FFF;
    return static_cast<uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}
RL_INLINE float rl_bfloat_to_float(uint16_t h) { return rl_bits<float>(static_cast<uint32_t>(h) << 16); }

// double to float, to odd: a second rounding to a shorter format is then correct.
RL_INLINE float rl_round_to_odd(double x) {
    const float nearest = static_cast<float>(x);
    if (static_cast<double>(nearest) == x || x != x || nearest - nearest != 0) return nearest;
    const uint32_t bits = rl_bits<uint32_t>(nearest);
    if (bits & 1) return nearest;
    const bool away = (x < 0 ? -static_cast<double>(nearest) : static_cast<double>(nearest)) > (x < 0 ? -x : x);
    return rl_bits<float>(away ? bits - 1 : bits + 1);
}

// A conversion costs nothing where the compiler does it.
#define RL_CONVERSION(TYPE, X, BITS) (__builtin_constant_p(X) ? (BITS) : RL_OPERATION(TYPE, "conversion", "+r", BITS))
// A float rounded to TYPE: the result of one of its operations.
#define RL_ROUNDED(TYPE, KIND, FROM, VALUE) TYPE::from_bits(RL_OPERATION(TYPE, KIND, "+r", FROM(rl_alone(VALUE))))

// One 16-bit format: TYPE with its arithmetic, PAIR of two, FROM and TO the conversions, SHORT the suffix of names.
#define RL_SHORT_FLOAT(TYPE, FROM, TO)                                                                                 \
    struct __attribute__((aligned(2))) TYPE {                                                                          \
        uint16_t bits;                                                                                                 \
        TYPE() = default;                                                                                              \
        RL_FORCE TYPE(float x) : bits(RL_CONVERSION(TYPE, x, FROM(x))) {}                                              \
        RL_FORCE TYPE(double x) : bits(RL_CONVERSION(TYPE, x, FROM(rl_round_to_odd(x)))) {}                            \
        RL_FORCE TYPE(int x) : bits(RL_CONVERSION(TYPE, x, FROM(rl_round_to_odd(x)))) {}                               \
        RL_FORCE TYPE(unsigned x) : bits(RL_CONVERSION(TYPE, x, FROM(rl_round_to_odd(x)))) {}                          \
        RL_FORCE TYPE(long long x) : bits(RL_CONVERSION(TYPE, x, FROM(static_cast<float>(x)))) {}                      \
        RL_FORCE TYPE(unsigned long long x) : bits(RL_CONVERSION(TYPE, x, FROM(static_cast<float>(x)))) {}             \
        RL_FORCE operator float() const { return TO(RL_OPERATION(TYPE, "conversion", "+r", bits)); }                   \
        static RL_FORCE TYPE from_bits(uint16_t b) {                                                                   \
            TYPE h;                                                                                                    \
            h.bits = b;                                                                                                \
            return h;                                                                                                  \
        }                                                                                                              \
    };                                                                                                                 \
    RL_INLINE TYPE operator+(TYPE a, TYPE b) { return RL_ROUNDED(TYPE, "add", FROM, TO(a.bits) + TO(b.bits)); }        \
    RL_INLINE TYPE operator-(TYPE a, TYPE b) { return RL_ROUNDED(TYPE, "add", FROM, TO(a.bits) - TO(b.bits)); }        \
    RL_INLINE TYPE operator*(TYPE a, TYPE b) { return RL_ROUNDED(TYPE, "mul", FROM, TO(a.bits) * TO(b.bits)); }        \
    RL_INLINE TYPE operator/(TYPE a, TYPE b) { return RL_ROUNDED(TYPE, "div", FROM, TO(a.bits) / TO(b.bits)); }        \
    RL_INLINE TYPE operator-(TYPE a) { return TYPE::from_bits(a.bits ^ 0x8000); }                                      \
    RL_INLINE TYPE operator+(TYPE a) { return a; }                                                                     \
    RL_INLINE TYPE& operator+=(TYPE& a, TYPE b) { return a = a + b; }                                                  \
    RL_INLINE TYPE& operator-=(TYPE& a, TYPE b) { return a = a - b; }                                                  \
    RL_INLINE TYPE& operator*=(TYPE& a, TYPE b) { return a = a * b; }                                                  \
    RL_INLINE TYPE& operator/=(TYPE& a, TYPE b) { return a = a / b; }                                                  \
    RL_INLINE bool operator==(TYPE a, TYPE b) { return TO(a.bits) == TO(b.bits); }                                     \
    RL_INLINE bool operator!=(TYPE a, TYPE b) { return TO(a.bits) != TO(b.bits); }                                     \
    RL_INLINE bool operator<(TYPE a, TYPE b) { return TO(a.bits) < TO(b.bits); }                                       \
    RL_INLINE bool operator>(TYPE a, TYPE b) { return TO(a.bits) > TO(b.bits); }                                       \
    RL_INLINE bool operator<=(TYPE a, TYPE b) { return TO(a.bits) <= TO(b.bits); }                                     \
    RL_INLINE bool operator>=(TYPE a, TYPE b) { return TO(a.bits) >= TO(b.bits); }                                     \
    RL_INLINE TYPE __hadd(TYPE a, TYPE b) { return a + b; }                                                            \
    RL_INLINE TYPE __hsub(TYPE a, TYPE b) { return a - b; }                                                            \
    RL_INLINE TYPE __hmul(TYPE a, TYPE b) { return a * b; }                                                            \
    RL_INLINE TYPE __hdiv(TYPE a, TYPE b) { return a / b; }                                                            \
    RL_INLINE TYPE __hadd_rn(TYPE a, TYPE b) { return a + b; }                                                         \
    RL_INLINE TYPE __hmul_rn(TYPE a, TYPE b) { return a * b; }                                                         \
    RL_INLINE TYPE __hneg(TYPE a) { return -a; }                                                                       \
    RL_INLINE TYPE __habs(TYPE a) { return TYPE::from_bits(a.bits & 0x7FFF); }                                         \
    RL_INLINE TYPE __hfma(TYPE a, TYPE b, TYPE c) {                                                                    \
        return RL_ROUNDED(TYPE, "fma", FROM, rl_round_to_odd(static_cast<double>(TO(a.bits)) * TO(b.bits) + TO(c.bits))); \
    }                                                                                                                  \
    RL_INLINE bool __hisnan(TYPE a) { return TO(a.bits) != TO(a.bits); }                                               \
    RL_INLINE TYPE __hmax(TYPE a, TYPE b) { return TYPE::from_bits(FROM(__builtin_fmaxf(TO(a.bits), TO(b.bits)))); }   \
    RL_INLINE TYPE __hmin(TYPE a, TYPE b) { return TYPE::from_bits(FROM(__builtin_fminf(TO(a.bits), TO(b.bits)))); }   \
    RL_INLINE bool __heq(TYPE a, TYPE b) { return a == b; }                                                            \
    RL_INLINE bool __hne(TYPE a, TYPE b) { return a != b; }                                                            \
    RL_INLINE bool __hlt(TYPE a, TYPE b) { return a < b; }                                                             \
    RL_INLINE bool __hle(TYPE a, TYPE b) { return a <= b; }                                                            \
    RL_INLINE bool __hgt(TYPE a, TYPE b) { return a > b; }                                                             \
    RL_INLINE bool __hge(TYPE a, TYPE b) { return a >= b; }                                                            \
    RL_INLINE TYPE hexp(TYPE a) { return RL_ROUNDED(TYPE, "special", FROM, __builtin_expf(TO(a.bits))); }              \
    RL_INLINE TYPE hlog(TYPE a) { return RL_ROUNDED(TYPE, "special", FROM, __builtin_logf(TO(a.bits))); }              \
    RL_INLINE TYPE hsqrt(TYPE a) { return RL_ROUNDED(TYPE, "special", FROM, __builtin_sqrtf(TO(a.bits))); }            \
    RL_INLINE TYPE hrsqrt(TYPE a) { return RL_ROUNDED(TYPE, "special", FROM, 1.0f / __builtin_sqrtf(TO(a.bits))); }    \
    RL_INLINE TYPE hrcp(TYPE a) { return RL_ROUNDED(TYPE, "div", FROM, 1.0f / TO(a.bits)); }

#define RL_FORCE __attribute__((always_inline)) inline

#define RL_SHORT_PAIR(PAIR, TYPE)                                                                                      \
    struct __attribute__((aligned(4))) PAIR {                                                                          \
        TYPE x, y;                                                                                                     \
        RL_COPIES_WHOLE(PAIR, 4)                                                                                       \
        PAIR(TYPE x, TYPE y) : x(x), y(y) {}                                                                           \
    };                                                                                                                 \
    RL_INLINE PAIR operator+(PAIR a, PAIR b) { return PAIR(a.x + b.x, a.y + b.y); }                                    \
    RL_INLINE PAIR operator-(PAIR a, PAIR b) { return PAIR(a.x - b.x, a.y - b.y); }                                    \
    RL_INLINE PAIR operator*(PAIR a, PAIR b) { return PAIR(a.x * b.x, a.y * b.y); }                                    \
    RL_INLINE PAIR& operator+=(PAIR& a, PAIR b) { return a = a + b; }                                                  \
    RL_INLINE PAIR& operator*=(PAIR& a, PAIR b) { return a = a * b; }                                                  \
    RL_INLINE PAIR __hadd2(PAIR a, PAIR b) { return a + b; }                                                           \
    RL_INLINE PAIR __hsub2(PAIR a, PAIR b) { return a - b; }                                                           \
    RL_INLINE PAIR __hmul2(PAIR a, PAIR b) { return a * b; }                                                           \
    RL_INLINE PAIR __hfma2(PAIR a, PAIR b, PAIR c) { return PAIR(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }      \
    RL_INLINE PAIR __hmax2(PAIR a, PAIR b) { return PAIR(__hmax(a.x, b.x), __hmax(a.y, b.y)); }                        \
    RL_INLINE PAIR __hmin2(PAIR a, PAIR b) { return PAIR(__hmin(a.x, b.x), __hmin(a.y, b.y)); }                        \
    RL_INLINE float __low2float(PAIR a) { return a.x; }                                                                \
    RL_INLINE float __high2float(PAIR a) { return a.y; }
