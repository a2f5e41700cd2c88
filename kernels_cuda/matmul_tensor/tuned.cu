// c[m, n] = a[m, k] b[k, n] as pipelined.cu does, with
// - warps of 64 x 64 results: 4 KiB from shared memory for 128 KiFLOP, two thirds of what 64 x 32 read;
// - tiles as large as the registers allow, because each byte of a tile comes from L2 once for every tile across it;
// - blocks that run at the same time in a nearly square part of c, so that L2 and not device memory feeds them;
// - results through shared memory, which turns pairs of elements into 16-byte stores;
// - a block per multiprocessor that takes tile after tile: while results leave, the next operands come.
// The sum of these five: 2.41 ms for 8192^3 of bf16 on an H200 after 3.28; what each buys was not measured one by one.
// Where a thread holds in registers what it copies (REALIGNED, TURNED), there are none for operands read ahead of their
// instructions; with them it spilled up to 164 bytes. 4096 x 4096 x 4095 on an H200, old and new: bf16 926 and 960 us,
// tf32 1752 and 1823, int8 531 and 480; with tiles of 128 x 128, which spill nothing either, bf16 1289.

#include "pipeline.cuh"
#include "results.cuh"

template <typename T, typename Result, int ROWS, int COLUMNS, int WARP_ROWS, int WARP_COLUMNS, int LINE_BYTES, int STAGES,
          Access A_ACCESS, Access B_ACCESS>
__global__ void __launch_bounds__(ROWS * COLUMNS / WARP_ROWS / WARP_COLUMNS * 32)
matmul_tensor_tuned(const T* __restrict__ a, const T* __restrict__ b, Result* __restrict__ c, int m, int n, int k,
                    long long a_row, long long a_column, long long b_row, long long b_column, long long c_row,
                    long long c_column, int group, bool c_aligned) {
    using Tile = Tiling<T, ROWS, COLUMNS, WARP_ROWS, WARP_COLUMNS, LINE_BYTES>;
    extern __shared__ __align__(128) unsigned char shared[];
    using Lines = Operand<T>;
    const Lines a_lines{a, a_row, a_column, m, k}, b_lines{b, b_column, b_row, n, k};
    const int steps = (k - 1) / Tile::DEPTH + 1;
    const long long tiles = ((m - 1ll) / ROWS + 1) * ((n - 1) / COLUMNS + 1);
    long long row, column;
    place<ROWS, COLUMNS>(row, column, blockIdx.x, m, n, group);
    using Pipe = Pipeline<Tile, STAGES, A_ACCESS, B_ACCESS>;
    Pipe pipeline(shared, a_lines, b_lines, row, column);
    pipeline.prefetch(0, steps);
#pragma unroll 1
    for (long long tile = blockIdx.x; tile < tiles;) {
        Sums<Tile> sums;
        pipeline.add_products(sums, 0, steps);
        const long long here = row, there = column;
        tile += gridDim.x;
        if (tile < tiles) {  // the next tile's operands come while the results leave
            place<ROWS, COLUMNS>(row, column, tile, m, n, group);
            pipeline = Pipe(shared, a_lines, b_lines, row, column);
            pipeline.prefetch(0, steps);
        }
        const Results<Result> results{c, c_row, c_column, m, n};
        store_staged(sums, results, here, there, c_aligned, shared + STAGES * Tile::STAGE_BYTES);
    }
}
