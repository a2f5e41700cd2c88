// y = x + y as `vectorised`, but L2 evicts last what was read: device memory turns less often from reading to writing.

#include "vector_add.cuh"

template <typename T, typename Index, bool STREAMED>
__global__ void __launch_bounds__(BLOCK)
    vector_add_evict_last(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    vector_add_packs<STREAMED>(x, y, n, head, packs);
}
