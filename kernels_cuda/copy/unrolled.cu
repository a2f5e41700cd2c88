// y = x, UNROLL packs per thread, all loaded before the first is stored: UNROLL times the bytes in flight per thread
// for the same number of warps (Little's law), and UNROLL times fewer blocks. Where many warps fit, as here, one pack
// per thread is in flight often enough, and the larger tiles only make the last wave of blocks longer.

#include "../_packs.cuh"

template <typename T, typename Index, int UNROLL>
__global__ void __launch_bounds__(BLOCK) copy_unrolled(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    const uint4* x_packs = packs_from(x + head);
    uint4* y_packs = packs_from(y + head);
    for_own_items<T, UNROLL>(
        n, head, packs,
        [&](Index first) {
            uint4 loaded[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                loaded[u] = x_packs[first + u * BLOCK];
            }
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                y_packs[first + u * BLOCK] = loaded[u];
            }
        },
        [&](Index i) { y_packs[i] = x_packs[i]; },
        [&](Index e) { y[e] = x[e]; });
}
