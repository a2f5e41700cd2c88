// The two halves of y = max(x + 1, 0), and a stream that applies either or both.

#pragma once

#include <roofline/evict_last.cuh>
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

template <typename T>
struct AddRelu {
    __device__ T operator()(T x) const { return Relu<T>()(AddOne<T>()(x)); }
};

// y = f(x), 16 bytes per thread. STREAMED through L2, x is evicted last.
template <bool STREAMED, typename T, typename Index, typename F>
__device__ void stream(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs, F f) {
    x = roofline::evict_last<STREAMED>(x);
    for_own_item<T>(
        n, head, packs,
        [&](Index i) { packs_from(y + head)[i] = map_pack<T>(packs_from(x + head)[i], f); },
        [&](Index e) { y[e] = f(x[e]); });
}

// y = f(x), one element per thread.
template <typename T, typename F>
__device__ void stream_scalar(const T* __restrict__ x, T* __restrict__ y, long long n, F f) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = f(x[i]);
    }
}
