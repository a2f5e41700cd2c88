// y[n, m] = x[m, n] transposed, one element per thread. A warp reads 32 neighbours of a row and writes them a whole row
// of y apart: 32 sectors for 32 elements.

#include <cuda_fp16.h>

template <typename T>
__global__ void transpose_naive(const T* __restrict__ x, T* __restrict__ y, long long m, long long n, long long x_row,
                                long long x_column, long long y_row, long long y_column) {
    const unsigned across = static_cast<unsigned>((n + blockDim.x - 1) / blockDim.x);  // blocks along a row; all blocks are counted in grid.x
    const long long row = static_cast<long long>(blockIdx.x / across) * blockDim.y + threadIdx.y;
    const long long column = static_cast<long long>(blockIdx.x % across) * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        y[column * y_row + row * y_column] = x[row * x_row + column * x_column];
    }
}
