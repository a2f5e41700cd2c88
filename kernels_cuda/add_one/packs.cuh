// A pack or an element per thread; with STREAMED, L2 evicts last what was read.

#pragma once

#include "../_packs.cuh"
#include <roofline/evict_last.cuh>

template <bool STREAMED, typename T, typename Index>
__device__ void add_one_packs(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    const auto add_one = [](T value) { return value + T(1.0f); };
    x = roofline::evict_last<STREAMED>(x);
    for_own_item<T>(
        n, head, packs,
        [&](Index i) { packs_from(y + head)[i] = map_pack<T>(packs_from(x + head)[i], add_one); },
        [&](Index e) { y[e] = add_one(x[e]); });
}
