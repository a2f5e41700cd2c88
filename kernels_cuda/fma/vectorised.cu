// c = a * b + c, 16 bytes per thread instead of one element: a quarter of the memory instructions for the same bytes.

#include "fma.cuh"

template <typename T, typename Index>
__global__ void __launch_bounds__(BLOCK)
    fma_vectorised(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, Index n, Index head,
                   Index packs) {
    fma_packs<false>(a, b, c, n, head, packs);
}
