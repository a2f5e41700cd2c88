// c = a * b + c, UNROLL packs per thread, all loaded before the first is used: UNROLL times the bytes in flight per
// thread for the same number of warps (Little's law), and UNROLL times fewer blocks. With three streams to read, 8 packs
// are 96 registers, which halves the warps that fit.

#include "fma.cuh"

template <typename T, typename Index, int UNROLL>
__global__ void __launch_bounds__(BLOCK) fma_unrolled(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, Index n, Index head,
                             Index packs) {
    const uint4* a_packs = packs_from(a + head);
    const uint4* b_packs = packs_from(b + head);
    uint4* c_packs = packs_from(c + head);
    for_own_items<T, UNROLL>(
        n, head, packs,
        [&](Index first) {
            uint4 a_loaded[UNROLL], b_loaded[UNROLL], c_loaded[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                a_loaded[u] = a_packs[first + u * BLOCK];
                b_loaded[u] = b_packs[first + u * BLOCK];
                c_loaded[u] = c_packs[first + u * BLOCK];
            }
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                c_packs[first + u * BLOCK] = fma_pack(a_loaded[u], b_loaded[u], c_loaded[u]);
            }
        },
        [&](Index i) { c_packs[i] = fma_pack(a_packs[i], b_packs[i], c_packs[i]); },
        [&](Index e) { c[e] = fmaf(a[e], b[e], c[e]); });
}
