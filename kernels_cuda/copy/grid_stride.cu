// y = x by as many blocks as the GPU holds at once: a thread walks over the vector in steps of the grid instead of a
// block being replaced by the next. It saves launching blocks; in exchange every iteration waits for its own load.

#include "../_packs.cuh"

template <typename T, typename Index>
__global__ void __launch_bounds__(BLOCK) copy_grid_stride(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    const Index items = n - packs * (WIDTH<T> - 1);
    for (Index i = static_cast<Index>(blockIdx.x) * BLOCK + threadIdx.x; i < items; i += gridDim.x * BLOCK) {
        for_item<T>(
            i, n, head, packs,
            [&](Index p) { packs_from(y + head)[p] = packs_from(x + head)[p]; },
            [&](Index e) { y[e] = x[e]; });
    }
}
