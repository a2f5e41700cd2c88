// The two halves of y = max(x + 1, 0), and a stream that applies either or both.

#pragma once

#include "../_packs.cuh"

template <typename T>
struct AddOne {
    __device__ T operator()(T x) const { return x + T(1.0f); }
};

template <typename T>
struct Relu {
    // Not a maximum: a comparison with NaN is false, so that NaN stays.
    __device__ T operator()(T x) const { return x <= T(0.0f) ? T(0.0f) : x; }
};

// y = f(x), UNROLL packs per thread.
template <typename T, int UNROLL, typename F>
__device__ void stream(const T* __restrict__ x, T* __restrict__ y, long long n, long long head, F f) {
    const uint4* x_packs = packs_from(x + head);
    uint4* y_packs = packs_from(y + head);
    for_packs<UNROLL>(
        (n - head) / WIDTH<T>,
        [&](long long i) {
            uint4 loaded[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                loaded[u] = x_packs[i + u * static_cast<int>(blockDim.x)];
            }
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                y_packs[i + u * static_cast<int>(blockDim.x)] = map_pack<T>(loaded[u], f);
            }
        },
        [&](long long i) { y_packs[i] = map_pack<T>(x_packs[i], f); });
    for_edges<T>(n, head, [&](long long e) { y[e] = f(x[e]); });
}
