// The part of a product that a block and its warps compute, and the registers of mma.sync out of tiles in shared memory.

#pragma once

#include "place.cuh"
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

// The operands of a warp's instructions of one step, 16 rows and 16 columns at a time.
template <class Tile, Access B_ACCESS>
struct Fragments {
    static constexpr int ROWS = Tile::WARP_ROWS / 16, COLUMNS = Tile::WARP_COLUMNS / 16;
    static constexpr int PARTS = ROWS > COLUMNS ? ROWS : COLUMNS;
    unsigned a[ROWS][4], b[COLUMNS][4];

    __device__ void load(const unsigned char* stage, int step, int part) {
        const int warp = threadIdx.x / 32;
        const int row = warp / Tile::WARPS_ACROSS * Tile::WARP_ROWS + 16 * part;
        const int column = warp % Tile::WARPS_ACROSS * Tile::WARP_COLUMNS + 16 * part;
        if (part < ROWS) {
            fragment_of_a<Tile::LINE_BYTES>(a[part], stage, row, step);
        }
        if (part < COLUMNS) {
            if constexpr (by_rows(B_ACCESS)) {
                fragment_of_rows<typename Tile::T, Tile::COLUMNS>(b[part], stage + Tile::A_BYTES, column, step);
            } else {
                fragment_of_b<Tile::LINE_BYTES>(b[part], stage + Tile::A_BYTES, column, step);
            }
        }
    }

    __device__ void load(const unsigned char* stage, int step) {
#pragma unroll
        for (int part = 0; part < PARTS; ++part) {
            load(stage, step, part);
        }
    }
};

// A warp's sums, as the instructions hold them.
template <class Tile>
struct Sums {
    typename Tile::Accumulator x[Tile::WARP_ROWS / 16][Tile::WARP_COLUMNS / 8][4] = {};

    template <Access B_ACCESS>
    __device__ void add(const Fragments<Tile, B_ACCESS>& f, int part) {
#pragma unroll
        for (int j = 0; j < Tile::WARP_COLUMNS / 8; ++j) {
            const unsigned b[2] = {f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]};
            Format<typename Tile::T>::multiply(x[part][j], f.a[part], b);
        }
    }

    template <Access B_ACCESS>
    __device__ void add(const Fragments<Tile, B_ACCESS>& f) {
#pragma unroll
        for (int part = 0; part < Tile::WARP_ROWS / 16; ++part) {
            add(f, part);
        }
    }
};
