// Vector types. A plain struct would be copied member by member; these copy as one access, like LDG.64 and LDG.128.
#pragma once

#include "core.hpp"

template <int bytes>
struct rl_word;
template <>
struct rl_word<2> {
    typedef uint16_t type __attribute__((may_alias));
};
template <>
struct rl_word<4> {
    typedef uint32_t type __attribute__((may_alias));
};
template <>
struct rl_word<8> {
    typedef uint64_t type __attribute__((may_alias));
};
template <>
struct rl_word<16> {
    typedef float type __attribute__((vector_size(16), may_alias));
};

// Copy construction and assignment of TYPE as one word of its size.
#define RL_COPIES_WHOLE(TYPE, BYTES)                                                                             \
    typedef rl_word<BYTES>::type rl_whole;                                                                       \
    TYPE() = default;                                                                                            \
    TYPE(const TYPE& o) { *(rl_whole*)(void*)this = *(const rl_whole*)(const void*)&o; }                         \
    TYPE& operator=(const TYPE& o) {                                                                             \
        *(rl_whole*)(void*)this = *(const rl_whole*)(const void*)&o;                                             \
        return *this;                                                                                            \
    }

#define RL_VECTOR1(NAME, T)   \
    struct NAME {             \
        T x;                  \
    };                        \
    RL_INLINE NAME make_##NAME(T x) { return NAME{x}; }
#define RL_VECTOR2(NAME, T)                                                        \
    struct __attribute__((aligned(2 * sizeof(T)))) NAME {                          \
        T x, y;                                                                    \
        RL_COPIES_WHOLE(NAME, 2 * sizeof(T))                                       \
        NAME(T x, T y) : x(x), y(y) {}                                             \
    };                                                                             \
    RL_INLINE NAME make_##NAME(T x, T y) { return NAME(x, y); }
#define RL_VECTOR3(NAME, T) \
    struct NAME {           \
        T x, y, z;          \
    };                      \
    RL_INLINE NAME make_##NAME(T x, T y, T z) { return NAME{x, y, z}; }
#define RL_VECTOR4(NAME, T)                                                        \
    struct __attribute__((aligned(4 * sizeof(T)))) NAME {                          \
        T x, y, z, w;                                                              \
        RL_COPIES_WHOLE(NAME, 4 * sizeof(T))                                       \
        NAME(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {}                       \
    };                                                                             \
    RL_INLINE NAME make_##NAME(T x, T y, T z, T w) { return NAME(x, y, z, w); }
// Four elements of 8 bytes move as two accesses of 16 bytes, hence a plain struct.
#define RL_VECTOR4_WIDE(NAME, T)                \
    struct __attribute__((aligned(16))) NAME {  \
        T x, y, z, w;                           \
    };                                          \
    RL_INLINE NAME make_##NAME(T x, T y, T z, T w) { return NAME{x, y, z, w}; }
#define RL_VECTORS(NAME, T) RL_VECTOR1(NAME##1, T) RL_VECTOR2(NAME##2, T) RL_VECTOR3(NAME##3, T) RL_VECTOR4(NAME##4, T)
#define RL_VECTORS_WIDE(NAME, T) \
    RL_VECTOR1(NAME##1, T) RL_VECTOR2(NAME##2, T) RL_VECTOR3(NAME##3, T) RL_VECTOR4_WIDE(NAME##4, T)

RL_VECTORS(char, signed char)
RL_VECTORS(uchar, unsigned char)
RL_VECTORS(short, short)
RL_VECTORS(ushort, unsigned short)
RL_VECTORS(int, int)
RL_VECTORS(float, float)
RL_VECTORS_WIDE(longlong, long long)
RL_VECTORS_WIDE(ulonglong, unsigned long long)
RL_VECTORS_WIDE(double, double)
RL_VECTORS_WIDE(long, long)
RL_VECTORS_WIDE(ulong, unsigned long)
RL_VECTOR1(uint1, unsigned)
RL_VECTOR2(uint2, unsigned)
RL_VECTOR4(uint4, unsigned)
RL_INLINE uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
