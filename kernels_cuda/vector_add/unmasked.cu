// y = x + y for whole blocks only: no comparison with the length, no edges. It saves the instructions of both.

#include "vector_add.cuh"

template <typename T>
__global__ void vector_add_unmasked(const T* __restrict__ x, T* __restrict__ y) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    packs_from(y)[i] = map_packs<T>(packs_from(x)[i], packs_from(y)[i], Add<T>());
}
