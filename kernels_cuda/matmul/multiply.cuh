// The core of the tuned products: a block multiplies a panel of a by a panel of b.
//
// - Lanes are spread so that neighbours want one address of a, and every second lane one address of b: then the
//   quarters of a warp's 16-byte request join, and it takes two wavefronts instead of four.
// - The operands of the next step are loaded into registers while those of this step are multiplied, across the
//   barrier.
// - STAGES tiles are in flight, and copies go out in a few batches between the first steps. The steps that fill no tile
//   come first and the last tiles have a loop of their own, so that the main loop asks nothing and is one block for the
//   compiler to schedule. It should not outgrow the instruction cache: 32 steps deep it was 10 % slower than 16.
// - SLICES > 1: parts of a block take different steps of each tile and add up at the end, in order. This is for
//   matrices too small to give every SM enough warps.

#pragma once

#include "operand.cuh"

namespace ordinary {

__device__ __forceinline__ void load(float* four, const float* from) {
    *reinterpret_cast<float4*>(four) = *reinterpret_cast<const float4*>(from);
}

// Adds what the other slices have in `sum` to that of the first, through shared memory.
template <int COUNT, int THREADS, int SLICES>
__device__ __forceinline__ void add_slices(float (&sum)[COUNT], float4* memory) {
    constexpr int SHARE = THREADS / SLICES;
    const int slice = threadIdx.x / SHARE;
    const int thread = threadIdx.x % SHARE;
#pragma unroll
    for (int other = 1; other < SLICES; ++other) {
        __syncthreads();  // nobody reads any more what lies there
        if (slice == other) {
#pragma unroll
            for (int i = 0; i < COUNT; i += 4) {
                memory[i / 4 * SHARE + thread] = make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
            }
        }
        __syncthreads();
        if (slice == 0) {
#pragma unroll
            for (int i = 0; i < COUNT; i += 4) {
                const float4 four = memory[i / 4 * SHARE + thread];
                sum[i] += four.x;
                sum[i + 1] += four.y;
                sum[i + 2] += four.z;
                sum[i + 3] += four.w;
            }
        }
    }
}

template <int ROWS_, int COLUMNS_, int DEPTH_, int HEIGHT_, int WIDTH_, int SLICES_, int STAGES_>
struct Tile {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, DEPTH = DEPTH_;     // of the tiles in shared memory
    static constexpr int HEIGHT = HEIGHT_, WIDTH = WIDTH_;                     // results of a thread
    static constexpr int SLICES = SLICES_, STAGES = STAGES_;
    static constexpr int THREADS = SLICES * ROWS * COLUMNS / (HEIGHT * WIDTH);
};

// Adds up a[i, 0..k) b[0..k, j) for the tile of c that begins at the pointer `c`; `a` and `b` point to its panels'
// first elements, of which `rows` and `columns` are inside the matrices. WIDE: rows of c are aligned to 16 bytes, and
// `columns` is a multiple of four. `memory` are STAGES pairs of tiles.
template <typename Tile, Layout A, Layout B, typename Offset, bool WIDE>
__device__ __forceinline__ void multiply(float4* memory, const float* a, const float* b, float* c, int rows,
                                         int columns, int k, long long a_row, long long a_column, long long b_row,
                                         long long b_column, long long c_row, long long c_column) {
    constexpr int HEIGHT = Tile::HEIGHT, WIDTH = Tile::WIDTH, STAGES = Tile::STAGES, SLICES = Tile::SLICES;
    constexpr int DEPTH = Tile::DEPTH, THREADS = Tile::THREADS, STEPS_EACH = DEPTH / SLICES;
    constexpr int DOWN = 4, RIGHT = 8;  // lanes of a warp, 4 x 4 results of each at a time
    constexpr int BATCHES = 4;
    static_assert(Tile::ROWS % (DOWN * HEIGHT) == 0 && Tile::COLUMNS % (RIGHT * WIDTH) == 0, "whole warps");
    static_assert(STEPS_EACH >= 2 * BATCHES, "a batch of copies every other step");
    using OperandA = Operand<Tile::ROWS, DEPTH, THREADS, A, Offset>;
    using OperandB = Operand<Tile::COLUMNS, DEPTH, THREADS, B, Offset>;
    constexpr int B_TILE = DEPTH * OperandA::PITCH;  // words from a's tile to b's
    constexpr int STAGE = B_TILE + DEPTH * OperandB::PITCH;
    static_assert(SLICES == 1 || Tile::ROWS * Tile::COLUMNS <= STAGES * STAGE, "a slice's results fit");
    float* const tiles = reinterpret_cast<float*>(memory);
    float* const last = tiles + (STAGES - 1) * STAGE;
    OperandA from_a(a, a_row, a_column, rows);
    OperandB from_b(b, b_column, b_row, columns);

    const int lane = threadIdx.x % 32;
    const int slice = threadIdx.x / (THREADS / SLICES);
    const int warp = threadIdx.x % (THREADS / SLICES) / 32;
    constexpr int WARPS_RIGHT = Tile::COLUMNS / (RIGHT * WIDTH);
    const int y = warp / WARPS_RIGHT * DOWN * HEIGHT + (lane >> 1 & 1 | lane >> 3 & 2) * 4;
    const int x = warp % WARPS_RIGHT * RIGHT * WIDTH + (lane & 1 | lane >> 1 & 6) * 4;

    float sum[HEIGHT * WIDTH] = {};
    float left[2][HEIGHT], right[2][WIDTH];
    const auto load_operands = [&](int buffer, const float* stage, int step) {
        const float* a_step = stage + (slice * STEPS_EACH + step) * OperandA::PITCH + y;
        const float* b_step = stage + B_TILE + (slice * STEPS_EACH + step) * OperandB::PITCH + x;
#pragma unroll
        for (int i = 0; i < HEIGHT; i += 4) {
            load(&left[buffer][i], a_step + i * DOWN);
        }
#pragma unroll
        for (int j = 0; j < WIDTH; j += 4) {
            load(&right[buffer][j], b_step + j * RIGHT);
        }
    };

    const int count = (k - 1) / DEPTH + 1;  // tiles; one of zeros if k is 0
    const int odd = k - (count - 1) * DEPTH;
    from_a.template copy<false>(tiles, 0, OperandA::COPIES, odd);
    from_b.template copy<false>(tiles + B_TILE, 0, OperandB::COPIES, odd);
    from_a.advance(odd);
    from_b.advance(odd);
    __pipeline_commit();
#pragma unroll
    for (int s = 1; s < STAGES - 1; ++s) {
        if (s < count) {
            from_a.template copy<true>(tiles + s * STAGE);
            from_b.template copy<true>(tiles + s * STAGE + B_TILE);
            from_a.advance(DEPTH);
            from_b.advance(DEPTH);
        }
        __pipeline_commit();
    }
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    float *read = tiles, *write = last;
    load_operands(0, read, 0);

    // Multiplies the tile at `read`, while a later one is copied to `write` if `copies`: known where it is inlined.
    const auto multiply_tile = [&](bool copies, bool final) __attribute__((always_inline)) {
#pragma unroll
        for (int step = 0; step < STEPS_EACH; ++step) {
            if (step == STEPS_EACH - 1) {
                __pipeline_commit();
                __pipeline_wait_prior(STAGES - 2);
                __syncthreads();  // the next tile has arrived, and this one's operands are in registers
                write = read;
                if (!final) {
                    read = read == last ? tiles : read + STAGE;
                }
            }
            load_operands((step + 1) % 2, read, (step + 1) % STEPS_EACH);
            if (copies && step % 2 == 0 && step / 2 < BATCHES) {
                const int batch = step / 2;
                from_a.template copy<true>(write, batch * OperandA::COPIES / BATCHES,
                                           (batch + 1) * OperandA::COPIES / BATCHES);
                from_b.template copy<true>(write + B_TILE, batch * OperandB::COPIES / BATCHES,
                                           (batch + 1) * OperandB::COPIES / BATCHES);
            }
#pragma unroll
            for (int i = 0; i < HEIGHT; ++i) {
#pragma unroll
                for (int j = 0; j < WIDTH; ++j) {
                    // To and fro, so that at every turn an operand is in the reuse cache already.
                    const int turned = i % 2 ? WIDTH - 1 - j : j;
                    sum[i * WIDTH + turned] += left[step % 2][i] * right[step % 2][turned];
                }
            }
        }
        from_a.advance(DEPTH);
        from_b.advance(DEPTH);
    };
    int tile = 0;
#pragma unroll 1
    for (; tile + STAGES - 1 < count; ++tile) {
        multiply_tile(true, false);
    }
#pragma unroll 1
    for (; tile < count; ++tile) {
        multiply_tile(false, tile + 1 == count);
    }

    if constexpr (SLICES > 1) {
        add_slices<HEIGHT * WIDTH, THREADS, SLICES>(sum, memory);
        if (slice > 0) {
            return;
        }
    }
#pragma unroll
    for (int i = 0; i < HEIGHT; ++i) {
        const int row = y + i / 4 * 4 * DOWN + i % 4;
#pragma unroll
        for (int j = 0; j < WIDTH; j += 4) {
            const int column = x + j * RIGHT;
            const float* four = &sum[i * WIDTH + j];
            float* to = c + row * c_row + column * c_column;
            if (WIDE && row < rows && column < columns) {
                // Without an addition the compiler would keep the sums where a 16-byte store wants them, in registers
                // of the same banks as the operands from b, and FFMA would wait for them.
                *reinterpret_cast<float4*>(to) =
                    make_float4(four[0] + 0.0f, four[1] + 0.0f, four[2] + 0.0f, four[3] + 0.0f);
            } else if (row < rows) {
#pragma unroll
                for (int s = 0; s < 4; ++s) {
                    if (column + s < columns) {
                        to[s * c_column] = four[s];
                    }
                }
            }
        }
    }
}

}  // namespace ordinary
