// c = a * b + c, 16 bytes per thread instead of one element: a quarter of the memory instructions for the same bytes.

#include "fma.cuh"

template <typename T, typename Index>
__global__ void __launch_bounds__(BLOCK) fma_vectorised(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, Index n, Index head,
                               Index packs) {
    for_own_item<T>(
        n, head, packs,
        [&](Index i) {
            uint4* c_pack = packs_from(c + head) + i;
            *c_pack = fma_pack(packs_from(a + head)[i], packs_from(b + head)[i], *c_pack);
        },
        [&](Index e) { c[e] = fmaf(a[e], b[e], c[e]); });
}
