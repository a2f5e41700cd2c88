// The part of a product that a block and its warps compute, and the registers of mma.sync out of tiles in shared memory.

#pragma once

#include "realigned.cuh"

// What a block and a warp compute at once, and how deep.
template <typename Type, int BLOCK_ROWS, int BLOCK_COLUMNS, int ROWS_OF_WARP, int COLUMNS_OF_WARP, int BYTES_OF_LINE>
struct Tiling {
    using T = Type;
    using Accumulator = typename Format<T>::Accumulator;
    static constexpr int ROWS = BLOCK_ROWS, COLUMNS = BLOCK_COLUMNS;
    static constexpr int WARP_ROWS = ROWS_OF_WARP, WARP_COLUMNS = COLUMNS_OF_WARP, LINE_BYTES = BYTES_OF_LINE;
    static constexpr int WARPS_ACROSS = COLUMNS / WARP_COLUMNS, THREADS = ROWS / WARP_ROWS * WARPS_ACROSS * 32;
    static constexpr int DEPTH = LINE_BYTES / sizeof(T), STEPS = LINE_BYTES / STEP_BYTES;
    static constexpr int A_BYTES = ROWS * LINE_BYTES, STAGE_BYTES = A_BYTES + COLUMNS * LINE_BYTES;
};

// The first row and column of a tile of c: `group` rows of tiles are walked column by column, so that blocks that run at
// the same time share rows of a and columns of b.
template <class Tile>
__device__ void place(long long& row, long long& column, long long tile, int m, int n, int group) {
    const int down = (m - 1) / Tile::ROWS + 1, across = (n - 1) / Tile::COLUMNS + 1;
    const int first = static_cast<int>(tile / (static_cast<long long>(group) * across)) * group;
    const int height = min(group, down - first);
    const int within = static_cast<int>(tile - static_cast<long long>(first) * across);
    row = static_cast<long long>(first + within % height) * Tile::ROWS;
    column = static_cast<long long>(within / height) * Tile::COLUMNS;
}

// Registers of 16 rows of a for one instruction.
template <int LINE_BYTES>
__device__ void fragment_of_a(unsigned (&r)[4], const unsigned char* tile, int line, int step) {
    const int lane = threadIdx.x % 32;
    roofline::ldmatrix<4>(r, tile + swizzled<LINE_BYTES>(line + lane % 16, 2 * step + lane / 16));
}

// Registers of 16 columns of b for two instructions, two after two.
template <int LINE_BYTES>
__device__ void fragment_of_b(unsigned (&r)[4], const unsigned char* tile, int line, int step) {
    const int lane = threadIdx.x % 32;
    roofline::ldmatrix<4>(r, tile + swizzled<LINE_BYTES>(line + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
}

// The same out of rows of b. 16-bit elements are transposed on the way; of 32-bit ones a lane reads its four.
template <typename T, int LINES>
__device__ void fragment_of_rows(unsigned (&r)[4], const unsigned char* tile, int line, int step) {
    const int lane = threadIdx.x % 32;
    if constexpr (sizeof(T) == 2) {
        roofline::ldmatrix<4, true>(r, tile + swizzled_row<T, LINES>(16 * step + lane % 16, line / 8 + lane / 16));
    } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int row = 8 * step + lane % 4 + e % 2 * 4, column = line + lane / 4 + e / 2 * 8;
            const unsigned char* chunk = tile + swizzled_row<T, LINES>(row, column / 4);
            r[e] = reinterpret_cast<const unsigned*>(chunk)[column % 4];
        }
    }
}

// The operands of a warp's instructions of one step.
template <class Tile, Access B_ACCESS>
struct Fragments {
    unsigned a[Tile::WARP_ROWS / 16][4], b[Tile::WARP_COLUMNS / 16][4];

    __device__ void load(const unsigned char* stage, int step) {
        const int warp = threadIdx.x / 32;
        const int row = warp / Tile::WARPS_ACROSS * Tile::WARP_ROWS, column = warp % Tile::WARPS_ACROSS * Tile::WARP_COLUMNS;
#pragma unroll
        for (int i = 0; i < Tile::WARP_ROWS / 16; ++i) {
            fragment_of_a<Tile::LINE_BYTES>(a[i], stage, row + 16 * i, step);
        }
#pragma unroll
        for (int j = 0; j < Tile::WARP_COLUMNS / 16; ++j) {
            if constexpr (by_rows(B_ACCESS)) {
                using T = typename Tile::T;
                fragment_of_rows<T, Tile::COLUMNS>(b[j], stage + Tile::A_BYTES, column + 16 * j, step);
            } else {
                fragment_of_b<Tile::LINE_BYTES>(b[j], stage + Tile::A_BYTES, column + 16 * j, step);
            }
        }
    }
};

// A warp's sums, as the instructions hold them.
template <class Tile>
struct Sums {
    typename Tile::Accumulator x[Tile::WARP_ROWS / 16][Tile::WARP_COLUMNS / 8][4] = {};

    template <Access B_ACCESS>
    __device__ void add(const Fragments<Tile, B_ACCESS>& f) {
#pragma unroll
        for (int i = 0; i < Tile::WARP_ROWS / 16; ++i) {
#pragma unroll
            for (int j = 0; j < Tile::WARP_COLUMNS / 8; ++j) {
                const unsigned b[2] = {f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]};
                Format<typename Tile::T>::multiply(x[i][j], f.a[i], b);
            }
        }
    }
};
