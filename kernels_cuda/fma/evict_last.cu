// c = a * b + c as `vectorised`, but L2 evicts last what was read: device memory turns less often from reading to writing.

#include "fma.cuh"

template <typename T, typename Index, bool STREAMED>
__global__ void __launch_bounds__(BLOCK)
    fma_evict_last(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, Index n, Index head,
                   Index packs) {
    fma_packs<STREAMED>(a, b, c, n, head, packs);
}
