// y[n, m] = x[m, n] transposed with 16 bytes per access everywhere. A thread transposes a square of WIDTH x WIDTH elements
// in its registers, so that shared memory, too, is written and read by 16 bytes: a WIDTH-th of the instructions. XOR puts
// the eight packs that eight lanes touch at once into different banks. Rows of x and y must start at multiples of 16
// bytes. Tiles that overlap the border go element by element.
//
// Blocks that run at the same time are neighbours along a row of y: what is written together lies together. The other
// order took 135.6 us where this takes 131.0 (8192 x 8192 f32 on an H200, copy 128.0).

#include <cuda_fp16.h>

#include <roofline/evict_last.cuh>
#include "realigned.cuh"

template <typename T, int PACKS, int THREADS, bool STREAMED>
__global__ void transpose_vectorised(const T* __restrict__ x, T* __restrict__ y, long long m, long long n,
                                     long long x_row, long long y_row) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T);
    constexpr int TILE = PACKS * WIDTH;
    __shared__ uint4 tile[TILE][PACKS];  // transposed: a row of it is a part of a row of y
    const unsigned down = static_cast<unsigned>((m + TILE - 1) / TILE);  // tiles along a row of y; all blocks are counted in grid.x
    const long long first_row = static_cast<long long>(blockIdx.x % down) * TILE;
    const long long first_column = static_cast<long long>(blockIdx.x / down) * TILE;
    const int rows = min(static_cast<long long>(TILE), m - first_row);
    const int columns = min(static_cast<long long>(TILE), n - first_column);
    const T* x_tile = roofline::evict_last<STREAMED>(x) + first_row * x_row + first_column;

    if (rows < TILE || columns < TILE) {
        T* y_tile = y + first_column * y_row + first_row;
        T* element = reinterpret_cast<T*>(tile);
#pragma unroll 4
        for (int i = threadIdx.x; i < rows * TILE; i += THREADS) {
            if (i % TILE < columns) {
                element[i % TILE * TILE + i / TILE] = x_tile[i / TILE * x_row + i % TILE];
            }
        }
        __syncthreads();
#pragma unroll 4
        for (int i = threadIdx.x; i < columns * TILE; i += THREADS) {
            if (i % TILE < rows) {
                y_tile[i / TILE * y_row + i % TILE] = element[i];
            }
        }
        return;
    }

#pragma unroll
    for (int square = threadIdx.x; square < PACKS * PACKS; square += THREADS) {
        const int right = square % PACKS;
        const int down = square / PACKS;
        uint4 row[WIDTH], column[WIDTH];
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            row[k] = reinterpret_cast<const uint4*>(x_tile + (down * WIDTH + k) * x_row)[right];
        }
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
#pragma unroll
            for (int j = 0; j < WIDTH; ++j) {
                reinterpret_cast<T*>(&column[j])[k] = reinterpret_cast<const T*>(&row[k])[j];
            }
        }
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) {
            tile[right * WIDTH + j][down ^ right] = column[j];
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = threadIdx.x; i < TILE * PACKS; i += THREADS) {
        const int row = i / PACKS;
        const int pack = i % PACKS;
        T* y_out = y + (first_column + row) * y_row + first_row;
        reinterpret_cast<uint4*>(y_out)[pack] = tile[row][pack ^ (row / WIDTH)];
    }
}

// The same for rows that start anywhere. Tiles overlap: by a pack in a row of x, and by as many rows as a part of a row of
// y may have to begin earlier to begin at a multiple of ALIGN bytes. Element by element it took 45 instructions each, and
// was bound by them.
template <typename T, int ROWS, int PACKS, int ALIGN, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    transpose_realigned(const T* __restrict__ x, T* __restrict__ y, int m, int n, long long x_row, long long y_row) {
    constexpr int ABOVE = ALIGN / sizeof(T), COLUMNS = (PACKS - 1) * WIDTH<T>;
    __shared__ uint4 tile[(ABOVE + ROWS) * PACKS];
    const int down = static_cast<int>((m + (ABOVE + ROWS - 2LL)) / ROWS);  // tiles along a row of y
    const int first_row = blockIdx.x % down * ROWS;
    const int first_column = blockIdx.x / down * COLUMNS;
    const bool whole = first_row >= ABOVE && first_row <= m - ROWS && first_column >= WIDTH<T> &&
                       first_column <= n - PACKS * WIDTH<T>;
    if (whole) {
        read_tile<T, ABOVE + ROWS, PACKS, THREADS, true>(x, tile, m, n, x_row, first_row - ABOVE, first_column);
        __syncthreads();
        write_tile<T, ROWS, PACKS, ALIGN, THREADS, true>(x, y, tile, m, n, x_row, y_row, first_row, first_column);
    } else {
        read_tile<T, ABOVE + ROWS, PACKS, THREADS, false>(x, tile, m, n, x_row, first_row - ABOVE, first_column);
        __syncthreads();
        write_tile<T, ROWS, PACKS, ALIGN, THREADS, false>(x, y, tile, m, n, x_row, y_row, first_row, first_column);
    }
}
