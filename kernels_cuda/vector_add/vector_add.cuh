// What is done to one element, and to all: a pack or an element per thread; with STREAMED, L2 evicts last what was read.

#pragma once

#include "../_packs.cuh"
#include <roofline/evict_last.cuh>

template <typename T>
struct Add {
    __device__ T operator()(T x, T y) const { return x + y; }
};

template <bool STREAMED, typename T, typename Index>
__device__ void vector_add_packs(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    x = roofline::evict_last<STREAMED>(x);
    for_own_item<T>(
        n, head, packs,
        [&](Index i) {
            uint4* y_pack = packs_from(y + head) + i;
            *y_pack = map_packs<T>(packs_from(x + head)[i], *y_pack, Add<T>());
        },
        [&](Index e) { y[e] = x[e] + y[e]; });
}
