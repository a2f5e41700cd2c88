// Mathematics. The fast intrinsics return what the accurate functions return: the GPU's differ from that by a few units
// in the last place, which a tolerance must allow for.
#pragma once

#include "core.hpp"

// glibc declares some of these names itself.
#define __expf rl_fast_exp
#define __exp10f rl_fast_exp10
#define __logf rl_fast_log
#define __log2f rl_fast_log2
#define __log10f rl_fast_log10
#define __sinf rl_fast_sin
#define __cosf rl_fast_cos
#define __tanf rl_fast_tan
#define __powf rl_fast_pow
#define __sincosf rl_fast_sincos

RL_INLINE float rl_fast_exp(float x) { return std::exp(x); }
RL_INLINE float rl_fast_exp10(float x) { return std::pow(10.0f, x); }
RL_INLINE float rl_fast_log(float x) { return std::log(x); }
RL_INLINE float rl_fast_log2(float x) { return std::log2(x); }
RL_INLINE float rl_fast_log10(float x) { return std::log10(x); }
RL_INLINE float rl_fast_sin(float x) { return std::sin(x); }
RL_INLINE float rl_fast_cos(float x) { return std::cos(x); }
RL_INLINE float rl_fast_tan(float x) { return std::tan(x); }
RL_INLINE float rl_fast_pow(float x, float y) { return std::pow(x, y); }
RL_INLINE void rl_fast_sincos(float x, float* s, float* c) {
    *s = std::sin(x);
    *c = std::cos(x);
}

template <class A, class B>
RL_INLINE constexpr std::common_type_t<A, B> min(A a, B b) {
    using C = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<C>) return static_cast<C>(__builtin_fmin(a, b));
    else return static_cast<C>(b) < static_cast<C>(a) ? static_cast<C>(b) : static_cast<C>(a);
}
template <class A, class B>
RL_INLINE constexpr std::common_type_t<A, B> max(A a, B b) {
    using C = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<C>) return static_cast<C>(__builtin_fmax(a, b));
    else return static_cast<C>(a) < static_cast<C>(b) ? static_cast<C>(b) : static_cast<C>(a);
}

RL_INLINE constexpr unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
RL_INLINE constexpr unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
RL_INLINE constexpr long long llmin(long long a, long long b) { return a < b ? a : b; }
RL_INLINE constexpr long long llmax(long long a, long long b) { return a < b ? b : a; }

using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

RL_INLINE float rsqrtf(float x) { return RL_OPERATION(float, "special", RL_REAL, 1.0f / __builtin_sqrtf(x)); }
RL_INLINE double rsqrt(double x) { return RL_OPERATION(double, "special", RL_REAL, 1.0 / __builtin_sqrt(x)); }
RL_INLINE float rcbrtf(float x) { return 1.0f / std::cbrt(x); }
RL_INLINE float normcdff(float x) { return 0.5f * std::erfc(-x * 0.70710678f); }
RL_INLINE double normcdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752); }
RL_INLINE float sinpif(float x) {
    return RL_OPERATION(float, "special", RL_REAL, static_cast<float>(__builtin_sin(x * 3.14159265358979323846)));
}
RL_INLINE float cospif(float x) {
    return RL_OPERATION(float, "special", RL_REAL, static_cast<float>(__builtin_cos(x * 3.14159265358979323846)));
}
RL_INLINE double sinpi(double x) { return RL_OPERATION(double, "special", RL_REAL, __builtin_sin(x * 3.14159265358979323846)); }
RL_INLINE double cospi(double x) { return RL_OPERATION(double, "special", RL_REAL, __builtin_cos(x * 3.14159265358979323846)); }
RL_INLINE float __fdividef(float a, float b) { return RL_OPERATION(float, "div", RL_REAL, a / b); }
RL_INLINE float fdividef(float a, float b) { return RL_OPERATION(float, "div", RL_REAL, a / b); }
RL_INLINE float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
RL_INLINE float __frsqrt_rn(float x) {
    return RL_OPERATION(float, "special", RL_REAL, static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x))));
}
RL_INLINE float __fsqrt_rn(float x) { return std::sqrt(x); }
RL_INLINE float __frcp_rn(float x) { return RL_OPERATION(float, "div", RL_REAL, 1.0f / x); }
RL_INLINE float __fdiv_rn(float a, float b) { return RL_OPERATION(float, "div", RL_REAL, a / b); }
RL_INLINE double __ddiv_rn(double a, double b) { return RL_OPERATION(double, "div", RL_REAL, a / b); }
RL_INLINE double __dsqrt_rn(double x) { return std::sqrt(x); }
RL_INLINE float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
RL_INLINE double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

RL_INLINE float norm3df(float a, float b, float c) { return std::sqrt(a * a + b * b + c * c); }
RL_INLINE float norm4df(float a, float b, float c, float d) { return std::sqrt(a * a + b * b + c * c + d * d); }
RL_INLINE float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
RL_INLINE float rhypotf(float a, float b) { return 1.0f / std::hypot(a, b); }
RL_INLINE double norm3d(double a, double b, double c) { return std::sqrt(a * a + b * b + c * c); }
RL_INLINE double rhypot(double a, double b) { return 1.0 / std::hypot(a, b); }
RL_INLINE float erfcxf(float x) { return static_cast<float>(std::exp(static_cast<double>(x) * x) * std::erfc(static_cast<double>(x))); }
RL_INLINE void sincospif(float x, float* s, float* c) {
    *s = sinpif(x);
    *c = cospif(x);
}

// The value nearest to zero among the two around an exact result.
RL_INLINE float rl_toward_zero(double exact) {
    const float nearest = static_cast<float>(exact);
    return __builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(exact) ? __builtin_nextafterf(nearest, 0.0f) : nearest;
}
// The largest value below it, and the smallest above.
RL_INLINE float rl_down(double exact) {
    const float nearest = static_cast<float>(exact);
    return static_cast<double>(nearest) > exact ? __builtin_nextafterf(nearest, -__builtin_inff()) : nearest;
}
RL_INLINE float rl_up(double exact) { return -rl_down(-exact); }
#define RL_DIRECTED(NAME, KIND, ROUND, EXPRESSION)                                  \
    RL_INLINE float NAME(float x, float y) {                                        \
        const double a = x, b = y;                                                  \
        return RL_OPERATION(float, KIND, RL_REAL, ROUND(EXPRESSION));               \
    }
RL_DIRECTED(__fmul_rz, "mul", rl_toward_zero, a * b)
RL_DIRECTED(__fmul_ru, "mul", rl_up, a * b)
RL_DIRECTED(__fmul_rd, "mul", rl_down, a * b)
RL_DIRECTED(__fadd_rz, "add", rl_toward_zero, a + b)
RL_DIRECTED(__fadd_ru, "add", rl_up, a + b)
RL_DIRECTED(__fadd_rd, "add", rl_down, a + b)
RL_DIRECTED(__fsub_rz, "add", rl_toward_zero, a - b)
RL_DIRECTED(__fsub_ru, "add", rl_up, a - b)
RL_DIRECTED(__fsub_rd, "add", rl_down, a - b)

// The inverse of the error function: a first guess (Winitzki's), then Newton's steps in double.
RL_UNSEEN inline double rl_inverse_erf(double x) {
    if (x != x || x < -1 || x > 1) return __builtin_nan("");
    if (x == 1 || x == -1) return x * __builtin_inf();
    const double log = __builtin_log1p(-x * x), half = 2 / (3.14159265358979323846 * 0.147) + log / 2;
    double y = __builtin_copysign(__builtin_sqrt(__builtin_sqrt(half * half - log / 0.147) - half), x);
    for (int k = 0; k < 4; ++k) y -= (__builtin_erf(y) - x) * 0.88622692545275801 * __builtin_exp(y * y);
    return y;
}
RL_INLINE float erfinvf(float x) { return RL_OPERATION(float, "special", RL_REAL, static_cast<float>(rl_inverse_erf(x))); }
RL_INLINE double erfinv(double x) { return RL_OPERATION(double, "special", RL_REAL, rl_inverse_erf(x)); }

RL_INLINE double __drcp_rn(double x) { return RL_OPERATION(double, "div", RL_REAL, 1.0 / x); }

// Never fused: an asm statement keeps the compiler from contracting the operation with a neighbour.
template <class T>
RL_INLINE T rl_alone(T x) {
    asm("" : RL_REAL(x));
    return x;
}
RL_INLINE float __fadd_rn(float a, float b) { return RL_OPERATION(float, "add", RL_REAL, a + b); }
RL_INLINE float __fsub_rn(float a, float b) { return RL_OPERATION(float, "add", RL_REAL, a - b); }
RL_INLINE float __fmul_rn(float a, float b) { return RL_OPERATION(float, "mul", RL_REAL, a * b); }
RL_INLINE double __dadd_rn(double a, double b) { return RL_OPERATION(double, "add", RL_REAL, a + b); }
RL_INLINE double __dsub_rn(double a, double b) { return RL_OPERATION(double, "add", RL_REAL, a - b); }
RL_INLINE double __dmul_rn(double a, double b) { return RL_OPERATION(double, "mul", RL_REAL, a * b); }
