// The host side of roofline/tensor_core.cuh: what ldmatrix and mma.sync do with the registers of 32 lanes.
#pragma once

#include "half.hpp"
#include "unset.hpp"

extern "C" void* rl_here();

namespace roofline {

struct rl_rows {
    const uint16_t* row;
    unsigned* out;
    int count;
    bool transposed;

    RL_UNSEEN static void run(void* const* lanes, uint32_t) {
        for (int lane = 0; lane < 32; ++lane) {
            const rl_rows& me = *static_cast<rl_rows*>(lanes[lane]);
            for (int m = 0; m < me.count; ++m) {
                uint32_t pair = 0;
                for (int k = 0; k < 2; ++k) {
                    const int outer = lane >> 2, inner = (lane & 3) * 2 + k;
                    const int i = me.transposed ? inner : outer, j = me.transposed ? outer : inner;
                    pair |= static_cast<uint32_t>(static_cast<rl_rows*>(lanes[m * 8 + i])->row[j]) << (16 * k);
                }
                me.out[m] = pair;
            }
        }
    }
};

template <int COUNT, bool TRANSPOSED = false>
RL_INLINE void ldmatrix(unsigned (&r)[COUNT], const void* row, RL_SITE) {
    static_assert(COUNT == 1 || COUNT == 2 || COUNT == 4, "ldmatrix loads 1, 2 or 4 matrices");
    if (rl_lane() < 8 * COUNT) rl_access(row, 16, 2, reinterpret_cast<uint64_t>(rl_here()), 0);
    rl_rows op{static_cast<const uint16_t*>(row), r, COUNT, TRANSPOSED};
    rl_lanes(&op, &rl_rows::run, line, file);
}

struct rl_f16 {
    static constexpr const char* pipeline = "fp16_tensor";
    static constexpr int per = 2;
    static float value(uint32_t r, int e) { return rl_half_to_float(static_cast<uint16_t>(r >> (16 * e))); }
};
struct rl_bf16 {
    static constexpr const char* pipeline = "bf16_tensor";
    static constexpr int per = 2;
    static float value(uint32_t r, int e) { return rl_bfloat_to_float(static_cast<uint16_t>(r >> (16 * e))); }
};
struct rl_tf32 {
    static constexpr const char* pipeline = "tf32_tensor";
    static constexpr int per = 1;
    static float value(uint32_t r, int) { return rl_bits<float>(r & 0xFFFFE000u); }
};
struct rl_s8 {
    static constexpr const char* pipeline = "int8_tensor";
    static constexpr int per = 4;
    static int value(uint32_t r, int e) { return static_cast<signed char>(r >> (8 * e)); }
};

// d = a b + c for 16 rows, 8 columns and 8 * per products; the sum runs over k ascending.
template <class Format, class T>
struct rl_instruction {
    T* d;
    const unsigned* a;
    const unsigned* b;
    const T* c;
    int line;
    const char* file;

    RL_UNSEEN static void run(void* const* lanes, uint32_t) {
        constexpr int per = Format::per, depth = 8 * per;
        const auto at = [&](int lane) -> const rl_instruction& { return *static_cast<rl_instruction*>(lanes[lane]); };
        rl_require_set([&](int lane) { return at(lane).c; }, 4, "nobody has set the addend of this mma", at(0).line, at(0).file);
        static T a[16][depth], b[depth][8];
        for (int lane = 0; lane < 32; ++lane) {
            const rl_instruction& op = at(lane);
            const int outer = lane >> 2, inner = (lane & 3) * per;
            for (int e = 0; e < per; ++e) {
                for (int r = 0; r < 4; ++r) a[outer + 8 * (r & 1)][inner + e + (r >> 1) * 4 * per] = Format::value(op.a[r], e);
                for (int r = 0; r < 2; ++r) b[inner + e + r * 4 * per][outer] = Format::value(op.b[r], e);
            }
        }
        for (int lane = 0; lane < 32; ++lane) {
            const rl_instruction& op = at(lane);
            for (int r = 0; r < 4; ++r) {
                T sum = op.c[r];
                for (int k = 0; k < depth; ++k) sum += a[(lane >> 2) + 8 * (r >> 1)][k] * b[k][(lane & 3) * 2 + (r & 1)];
                op.d[r] = sum;
            }
        }
        rl_count_tensor(Format::pipeline, 2ull * 16 * 8 * depth, at(0).line, at(0).file);
    }
};

#define RL_MMA(NAME, FORMAT, T)                                                                                          \
    RL_INLINE void NAME(T (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const T (&c)[4], RL_SITE) {           \
        rl_instruction<FORMAT, T> op{d, a, b, c, line, file};                                                                        \
        rl_lanes(&op, &rl_instruction<FORMAT, T>::run, line, file);                                                      \
    }
RL_MMA(mma_m16n8k16_f16, rl_f16, float)
RL_MMA(mma_m16n8k16_bf16, rl_bf16, float)
RL_MMA(mma_m16n8k8_tf32, rl_tf32, float)
RL_MMA(mma_m16n8k32_s8, rl_s8, int)
#undef RL_MMA

}  // namespace roofline
