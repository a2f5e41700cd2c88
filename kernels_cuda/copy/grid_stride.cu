// y = x by as many blocks as the GPU holds at once: a thread walks over the vector in steps of the grid instead of a
// block being replaced by the next. It saves launching blocks; in exchange every iteration waits for its own load.

#include "../_packs.cuh"

template <typename T>
__global__ void copy_grid_stride(const T* __restrict__ x, T* __restrict__ y, long long n, long long head) {
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long packs = (n - head) / WIDTH<T>;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < packs; i += threads) {
        packs_from(y + head)[i] = packs_from(x + head)[i];
    }
    for_edges<T>(n, head, [&](long long e) { y[e] = x[e]; });
}
