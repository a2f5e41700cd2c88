// y[n, m] = x[m, n] transposed through a tile in shared memory, so that both global sides run along rows. A column of
// the tile is read by a warp; the padding element puts its entries into 32 different banks.

#include <cuda_fp16.h>

template <typename T, int TILE>
__global__ void transpose_shared_padded(const T* __restrict__ x, T* __restrict__ y, long long m, long long n, long long x_row,
                                        long long x_column, long long y_row, long long y_column) {
    __shared__ T tile[TILE][TILE + 1];
    const unsigned across = static_cast<unsigned>((n + TILE - 1) / TILE);  // tiles along a row; all blocks are counted in grid.x
    const long long first_row = static_cast<long long>(blockIdx.x / across) * TILE;
    const long long first_column = static_cast<long long>(blockIdx.x % across) * TILE;

    for (int i = threadIdx.y; i < TILE; i += blockDim.y) {
        const long long row = first_row + i;
        const long long column = first_column + threadIdx.x;
        if (row < m && column < n) {
            tile[i][threadIdx.x] = x[row * x_row + column * x_column];
        }
    }
    __syncthreads();
    for (int i = threadIdx.y; i < TILE; i += blockDim.y) {
        const long long row = first_row + threadIdx.x;
        const long long column = first_column + i;
        if (row < m && column < n) {
            y[column * y_row + row * y_column] = tile[threadIdx.x][i];
        }
    }
}
