// y = x as `vectorised`, but L2 evicts last what was read, and first what was written: device memory turns less often
// from reading to writing.

#include <roofline/evict_last.cuh>
#include "../_packs.cuh"

template <typename T, typename Index, bool STREAMED>
__global__ void __launch_bounds__(BLOCK)
    copy_evict_last(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    x = roofline::evict_last<STREAMED>(x);
    for_own_item<T>(
        n, head, packs,
        [&](Index i) { packs_from(y + head)[i] = packs_from(x + head)[i]; },
        [&](Index e) { y[e] = x[e]; });
}
