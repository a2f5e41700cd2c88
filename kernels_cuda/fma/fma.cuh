// What one thread does to one pack, and to all: a pack or an element; with STREAMED, L2 evicts last what was read.

#pragma once

#include "../_packs.cuh"
#include <roofline/evict_last.cuh>

__device__ inline uint4 fma_pack(uint4 a, uint4 b, uint4 c) {
    const float* a_element = reinterpret_cast<const float*>(&a);
    const float* b_element = reinterpret_cast<const float*>(&b);
    float* c_element = reinterpret_cast<float*>(&c);
#pragma unroll
    for (int k = 0; k < WIDTH<float>; ++k) {
        c_element[k] = fmaf(a_element[k], b_element[k], c_element[k]);
    }
    return c;
}

template <bool STREAMED, typename T, typename Index>
__device__ void fma_packs(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, Index n, Index head,
                          Index packs) {
    a = roofline::evict_last<STREAMED>(a);
    b = roofline::evict_last<STREAMED>(b);
    for_own_item<T>(
        n, head, packs,
        [&](Index i) {
            uint4* c_pack = packs_from(c + head) + i;
            *c_pack = fma_pack(packs_from(a + head)[i], packs_from(b + head)[i], *c_pack);
        },
        [&](Index e) { c[e] = fmaf(a[e], b[e], c[e]); });
}
