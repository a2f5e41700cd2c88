// y = x + 1 as `vectorised`, but L2 evicts last what was read: device memory turns less often from reading to writing.

#include <roofline/evict_last.cuh>
#include "../_packs.cuh"

template <typename T, typename Index, bool STREAMED>
__global__ void __launch_bounds__(BLOCK)
    add_one_evict_last(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    const auto add_one = [](T value) { return value + T(1.0f); };
    x = roofline::evict_last<STREAMED>(x);
    for_own_item<T>(
        n, head, packs,
        [&](Index i) { packs_from(y + head)[i] = map_pack<T>(packs_from(x + head)[i], add_one); },
        [&](Index e) { y[e] = add_one(x[e]); });
}
