// c = a * b + c as `vectorised`, but L2 evicts last what was read: device memory turns less often from reading to writing.

#include <roofline/evict_last.cuh>
#include "fma.cuh"

template <typename T, typename Index, bool STREAMED>
__global__ void __launch_bounds__(BLOCK)
    fma_evict_last(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, Index n,
                   Index head, Index packs) {
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
