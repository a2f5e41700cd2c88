// y = x + y, 16 bytes of neighbours per thread as in `vectorised`, but written element by element: the promise of
// alignment lets the compiler make 128-bit accesses of them itself. It buys readable code, not time.

#include <cuda_fp16.h>

template <typename T, int WIDTH>
__global__ void vector_add_hinted(const T* __restrict__ x, T* __restrict__ y, long long n) {
    const long long first = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * WIDTH;
    const T* x_aligned = static_cast<const T*>(__builtin_assume_aligned(x, 16)) + first;
    T* y_aligned = static_cast<T*>(__builtin_assume_aligned(y, 16)) + first;
    if (first + WIDTH <= n) {
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            y_aligned[k] = x_aligned[k] + y_aligned[k];
        }
    } else {
        for (int k = 0; first + k < n; ++k) {
            y_aligned[k] = x_aligned[k] + y_aligned[k];
        }
    }
}
