// y = x + y as `vectorised`, but L2 evicts last what was read: device memory turns less often from reading to writing.

#include <roofline/evict_last.cuh>
#include "vector_add.cuh"

template <typename T, typename Index, bool STREAMED>
__global__ void __launch_bounds__(BLOCK)
    vector_add_evict_last(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    x = roofline::evict_last<STREAMED>(x);
    for_own_item<T>(
        n, head, packs,
        [&](Index i) {
            uint4* y_pack = packs_from(y + head) + i;
            *y_pack = map_packs<T>(packs_from(x + head)[i], *y_pack, Add<T>());
        },
        [&](Index e) { y[e] = x[e] + y[e]; });
}
