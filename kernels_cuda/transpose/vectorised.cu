// y[n, m] = x[m, n] transposed with 16 bytes per access everywhere. A thread transposes a square of WIDTH x WIDTH elements
// in its registers, so that shared memory, too, is written and read by 16 bytes: a WIDTH-th of the instructions. XOR puts
// the eight packs that eight lanes touch at once into different banks. Rows of x and y must start at multiples of 16
// bytes. Tiles that overlap the border go element by element.

#include <cuda_fp16.h>

#include "tile.cuh"

template <typename T, int PACKS, int THREADS, int GROUP>
__global__ void transpose_vectorised(const T* __restrict__ x, T* __restrict__ y, int m, int n, long long x_row,
                                     long long y_row) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T);
    constexpr int TILE = PACKS * WIDTH;
    __shared__ uint4 tile[TILE][PACKS];  // transposed: a row of it is a part of a row of y
    const Place at = place<TILE, TILE, GROUP>(m, n);
    const int rows = min(static_cast<long long>(TILE), m - at.row);
    const int columns = min(static_cast<long long>(TILE), n - at.column);
    const T* x_tile = x + at.row * x_row + at.column;

    if (rows < TILE || columns < TILE) {
        T* y_tile = y + at.column * y_row + at.row;
        T* element = reinterpret_cast<T*>(tile);
        for (int i = threadIdx.x; i < rows * TILE; i += THREADS) {
            if (i % TILE < columns) {
                element[i % TILE * TILE + i / TILE] = x_tile[i / TILE * x_row + i % TILE];
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < columns * TILE; i += THREADS) {
            if (i % TILE < rows) {
                y_tile[i / TILE * y_row + i % TILE] = element[i];
            }
        }
        return;
    }

#pragma unroll
    for (int square = threadIdx.x; square < PACKS * PACKS; square += THREADS) {
        const int across = square % PACKS;
        const int down = square / PACKS;
        uint4 row[WIDTH], column[WIDTH];
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            row[k] = reinterpret_cast<const uint4*>(x_tile + (down * WIDTH + k) * x_row)[across];
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
            tile[across * WIDTH + j][down ^ across] = column[j];
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = threadIdx.x; i < TILE * PACKS; i += THREADS) {
        const int row = i / PACKS;
        const int pack = i % PACKS;
        T* y_out = y + (at.column + row) * y_row + at.row;
        reinterpret_cast<uint4*>(y_out)[pack] = tile[row][pack ^ (row / WIDTH)];
    }
}

// The same for rows that start anywhere, which no 16-byte load fits. What costs is not the loads but the stores: a sector
// of 32 bytes that a block writes in part must be read and merged. So every row of y has its own first element in the
// tile, `shift` before the common one, at a sector's start; the rows of x that the shifts reach are read twice, the second
// time from L2.
template <typename T, int ROWS, int COLUMNS, int THREADS, int GROUP>
__global__ void transpose_vectorised_shifted(const T* __restrict__ x, T* __restrict__ y, int m, int n, long long x_row,
                                             long long y_row) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T);
    constexpr int SECTOR = 32 / sizeof(T);
    constexpr int HALO = SECTOR - 1;
    constexpr int PACKS = ROWS / WIDTH;
    constexpr int LANES = 8;  // of a warp along a row of y; four rows at a time then meet 32 different banks
    __shared__ T tile[ROWS + HALO][COLUMNS + 1];
    const Place at = place<ROWS, COLUMNS, GROUP>(m + HALO, n);
    const long long first = at.row - HALO;

#pragma unroll 8
    for (int i = threadIdx.x; i < (ROWS + HALO) * COLUMNS; i += THREADS) {
        const long long row = first + i / COLUMNS;
        const long long column = at.column + i % COLUMNS;
        if (row >= 0 && row < m && column < n) {
            tile[i / COLUMNS][i % COLUMNS] = x[row * x_row + column];
        }
    }
    __syncthreads();
    const long long start = static_cast<long long>(reinterpret_cast<unsigned long long>(y) / sizeof(T));
    for (int i = threadIdx.x; i < PACKS * COLUMNS; i += THREADS) {
        const int lane = i % LANES + i / (LANES * COLUMNS) * LANES;
        const int in_tile = i / LANES % COLUMNS;
        const long long column = at.column + in_tile;
        if (column >= n) {
            continue;
        }
        const int shift = static_cast<int>((start + column * y_row) % SECTOR);
        const long long row = at.row - shift + lane * WIDTH;
        const int above = lane * WIDTH + HALO - shift;  // the same row in the tile
        T* out = y + column * y_row + row;
        if (row >= 0 && row + WIDTH <= m) {
            uint4 pack;
#pragma unroll
            for (int k = 0; k < WIDTH; ++k) {
                reinterpret_cast<T*>(&pack)[k] = tile[above + k][in_tile];
            }
            *reinterpret_cast<uint4*>(out) = pack;
        } else {
            for (int k = 0; k < WIDTH; ++k) {
                if (row + k >= 0 && row + k < m) {
                    out[k] = tile[above + k][in_tile];
                }
            }
        }
    }
}
