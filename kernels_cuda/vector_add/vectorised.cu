// y = x + y, 16 bytes per thread: fewer load instructions for the same bytes than one element per thread.
//
// A 128-bit access must be 16-byte aligned. The first `head` elements, up to such a boundary, and the tail that fills
// no 16 bytes are added one by one; `x` and `y` must be equally far from a boundary.

#include <cuda_fp16.h>

template <typename T>
__global__ void vector_add_vectorised(const T* __restrict__ x, T* __restrict__ y, long long n, int head) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T);
    const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long packs = (n - head) / WIDTH;

    if (thread < packs) {
        const uint4 x_pack = reinterpret_cast<const uint4*>(x + head)[thread];
        uint4 y_pack = reinterpret_cast<const uint4*>(y + head)[thread];
        const T* x_element = reinterpret_cast<const T*>(&x_pack);
        T* y_element = reinterpret_cast<T*>(&y_pack);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            y_element[k] = x_element[k] + y_element[k];
        }
        reinterpret_cast<uint4*>(y + head)[thread] = y_pack;
    }

    const long long edge = n - packs * WIDTH;  // head and tail together, fewer than 2 * WIDTH
    if (thread < edge) {
        const long long i = thread < head ? thread : thread + packs * WIDTH;
        y[i] = x[i] + y[i];
    }
}
