// y = x + y, 16 bytes per thread: fewer load instructions for the same bytes than one element per thread.

#include "vector_add.cuh"

template <typename T, typename Index>
__global__ void __launch_bounds__(BLOCK) vector_add_vectorised(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    for_own_item<T>(
        n, head, packs,
        [&](Index i) {
            uint4* y_pack = packs_from(y + head) + i;
            *y_pack = map_packs<T>(packs_from(x + head)[i], *y_pack, Add<T>());
        },
        [&](Index e) { y[e] = x[e] + y[e]; });
}
