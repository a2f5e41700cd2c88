// y[n, m] = x[m, n] transposed through a padded tile, 16 bytes per thread on both global sides. Rows of x and y must
// start at multiples of 16 bytes. Tiles that overlap the border go element by element.

#include <cuda_fp16.h>

template <typename T, int TILE, int BLOCK>
__global__ void transpose_vectorised(const T* __restrict__ x, T* __restrict__ y, int m, int n, long long x_row,
                                     long long y_row) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T);
    constexpr int PACKS = TILE / WIDTH;          // threads along a row of the tile
    constexpr int PASSES = TILE * PACKS / BLOCK;  // rows that a thread meets
    __shared__ T tile[TILE][TILE + 1];
    const int across = (n + TILE - 1) / TILE;  // tiles along a row; all blocks are counted in grid.x
    const int first_row = static_cast<int>(blockIdx.x / across) * TILE;
    const int first_column = static_cast<int>(blockIdx.x % across) * TILE;
    const T* x_tile = x + first_row * x_row + first_column;
    T* y_tile = y + first_column * y_row + first_row;
    const int rows = min(TILE, m - first_row);
    const int columns = min(TILE, n - first_column);

    if (rows < TILE || columns < TILE) {
        for (int i = threadIdx.x; i < rows * TILE; i += BLOCK) {
            if (i % TILE < columns) {
                tile[i / TILE][i % TILE] = x_tile[i / TILE * x_row + i % TILE];
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < columns * TILE; i += BLOCK) {
            if (i % TILE < rows) {
                y_tile[i / TILE * y_row + i % TILE] = tile[i % TILE][i / TILE];
            }
        }
        return;
    }

    const int lane = threadIdx.x % PACKS * WIDTH;  // this thread's first element along a row of either matrix
    uint4 packs[PASSES];
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) {
        const int i = threadIdx.x / PACKS + pass * (TILE / PASSES);
        packs[pass] = *reinterpret_cast<const uint4*>(x_tile + i * x_row + lane);
    }
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) {
        const int i = threadIdx.x / PACKS + pass * (TILE / PASSES);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            tile[i][lane + k] = reinterpret_cast<const T*>(&packs[pass])[k];
        }
    }
    __syncthreads();
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) {
        const int i = threadIdx.x / PACKS + pass * (TILE / PASSES);
        uint4 pack;
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            reinterpret_cast<T*>(&pack)[k] = tile[lane + k][i];
        }
        // Formed from y_tile, this address makes nvcc 13 forget its alignment and split the store.
        *reinterpret_cast<uint4*>(y + (first_column + i) * y_row + first_row + lane) = pack;
    }
}
