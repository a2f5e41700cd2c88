// c[m, n] = a[m, k] b[k, n] as pipelined.cu does, with
// - warps of 64 x 64 results: 4 KiB from shared memory for 128 KiFLOP, half of what 32 x 32 read;
// - tiles as large as the registers allow, because each byte of a tile comes from L2 once for every tile across it;
// - blocks that run at the same time in a nearly square part of c, so that L2 and not device memory feeds them;
// - results through shared memory, which turns pairs of elements into 16-byte stores.

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
    long long row, column;
    place<ROWS, COLUMNS>(row, column, blockIdx.x, m, n, group);

    Sums<Tile> sums;
    const Operand<T> a_lines{a, a_row, a_column, m, k}, b_lines{b, b_column, b_row, n, k};
    Pipeline<Tile, STAGES, A_ACCESS, B_ACCESS> pipeline(shared, a_lines, b_lines, row, column);
    pipeline.run(sums, 0, (k - 1) / Tile::DEPTH + 1);
    store_staged(sums, Results<Result>{c, c_row, c_column, m, n}, row, column, c_aligned, shared);
}
