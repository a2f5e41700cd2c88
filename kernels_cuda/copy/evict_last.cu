// y = x as `vectorised`, but L2 evicts last what was read, and first what was written: device memory turns less often
// from reading to writing.

#include "packs.cuh"

template <typename T, typename Index, bool STREAMED>
__global__ void __launch_bounds__(BLOCK)
    copy_evict_last(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    copy_packs<STREAMED>(x, y, n, head, packs);
}
