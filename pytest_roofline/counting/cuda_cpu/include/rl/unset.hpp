// Operands of matrix operations that nobody has set. The compiler fills uninitialised variables with a pattern (build.py);
// an operand of a whole warp that holds nothing else was not filled or loaded.
#pragma once

#include "core.hpp"

#ifdef __clang__
template <class T>
constexpr unsigned char rl_pattern = std::is_floating_point_v<T> ? 0xFF : 0xAA;
#else
template <class T>
constexpr unsigned char rl_pattern = 0xFE;
#endif

// Bytes are left out: -2 in all of them, which is the pattern, is a matrix like others.
template <class T>
RL_UNSEEN inline bool rl_is_unset(const T* values, size_t count) {
    if (sizeof(T) == 1) return false;
    const auto* bytes = reinterpret_cast<const unsigned char*>(values);
    for (size_t i = 0; i < count * sizeof(T); ++i)
        if (bytes[i] != rl_pattern<T>) return false;
    return true;
}

// `values(lane)` and `count`: an operand's elements in each lane.
template <class F>
RL_UNSEEN inline void rl_require_set(F values, size_t count, const char* text, int line, const char* file) {
    for (int lane = 0; lane < 32; ++lane)
        if (!rl_is_unset(values(lane), count)) return;
    rl_fail(RL_UNSET, text, line, file);
}
