// y = x, 16 bytes per thread instead of one element: fewer instructions and fewer blocks for the same bytes, which
// matters most for i8, where a scalar warp moves a single sector at a time.

#include "../_packs.cuh"

template <typename T>
__global__ void copy_vectorised(const T* __restrict__ x, T* __restrict__ y, long long n, long long head) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < (n - head) / WIDTH<T>) {
        packs_from(y + head)[i] = packs_from(x + head)[i];
    }
    for_edges<T>(n, head, [&](long long e) { y[e] = x[e]; });
}
