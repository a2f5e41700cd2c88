// y[n, m] = x[m, n] transposed with 16 bytes per access everywhere. A thread transposes a square of WIDTH x WIDTH elements
// in its registers, so that shared memory, too, is written and read by 16 bytes: a WIDTH-th of the instructions. XOR puts
// the eight packs that eight lanes touch at once into different banks. Rows of x and y must start at multiples of 16
// bytes. Tiles that overlap the border go element by element.
//
// Blocks that run at the same time are neighbours along a row of y: what is written together lies together. The other
// order took 135.6 us where this takes 131.0 (8192 x 8192 f32 on an H200, copy 128.0).

#include <cuda_fp16.h>

template <typename T, int PACKS, int THREADS>
__global__ void transpose_vectorised(const T* __restrict__ x, T* __restrict__ y, int m, int n, long long x_row,
                                     long long y_row) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T);
    constexpr int TILE = PACKS * WIDTH;
    __shared__ uint4 tile[TILE][PACKS];  // transposed: a row of it is a part of a row of y
    const int down = (m + TILE - 1) / TILE;  // tiles along a row of y; all blocks are counted in grid.x
    const long long first_row = static_cast<long long>(blockIdx.x % down) * TILE;
    const long long first_column = static_cast<long long>(blockIdx.x / down) * TILE;
    const int rows = min(static_cast<long long>(TILE), m - first_row);
    const int columns = min(static_cast<long long>(TILE), n - first_column);
    const T* x_tile = x + first_row * x_row + first_column;

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

// The same for rows that start anywhere, which no 16-byte access fits: element by element, but with all loads of a thread
// in flight before the first store to shared memory. To let every store begin at a sector of 32 bytes, taking the rows in
// between from below the tile, was slower: 88 against 79 us (4097 x 8191 f32 on an H200).
template <typename T, int ROWS, int COLUMNS, int THREADS>
__global__ void transpose_vectorised_misaligned(const T* __restrict__ x, T* __restrict__ y, int m, int n,
                                                long long x_row, long long y_row) {
    constexpr int EACH = ROWS * COLUMNS / THREADS;
    __shared__ T tile[ROWS][COLUMNS + 1];
    const int down = (m + ROWS - 1) / ROWS;  // tiles along a row of y; all blocks are counted in grid.x
    const long long first_row = static_cast<long long>(blockIdx.x % down) * ROWS;
    const long long first_column = static_cast<long long>(blockIdx.x / down) * COLUMNS;
    const int rows = min(static_cast<long long>(ROWS), m - first_row);
    const int columns = min(static_cast<long long>(COLUMNS), n - first_column);
    const T* x_tile = x + first_row * x_row + first_column;
    T* y_tile = y + first_column * y_row + first_row;

    if (rows < ROWS || columns < COLUMNS) {
        for (int i = threadIdx.x; i < rows * COLUMNS; i += THREADS) {
            if (i % COLUMNS < columns) {
                tile[i / COLUMNS][i % COLUMNS] = x_tile[i / COLUMNS * x_row + i % COLUMNS];
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < columns * ROWS; i += THREADS) {
            if (i % ROWS < rows) {
                y_tile[i / ROWS * y_row + i % ROWS] = tile[i % ROWS][i / ROWS];
            }
        }
        return;
    }

    T value[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int i = k * THREADS + threadIdx.x;
        value[k] = x_tile[i / COLUMNS * x_row + i % COLUMNS];
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int i = k * THREADS + threadIdx.x;
        tile[i / COLUMNS][i % COLUMNS] = value[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int i = k * THREADS + threadIdx.x;
        y_tile[i / ROWS * y_row + i % ROWS] = tile[i % ROWS][i / ROWS];
    }
}
