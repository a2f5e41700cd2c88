// c[m, n] = a[m, k] b[k, n] with as many blocks as the device holds (stream K: Osama et al., 2023). As long as every
// block has a whole tile of c it computes one; the steps along k of the tiles that are left are cut into equal pieces,
// wherever tiles begin and end. Pieces of a tile go to the workspace, and a second kernel adds them up.

#include "../matmul_tensor/pipeline.cuh"
#include "join.cuh"
#include "share.cuh"

// partials[slot][ROWS][COLUMNS]
template <typename T, typename Result, int ROWS, int COLUMNS, int WARP_ROWS, int WARP_COLUMNS, int LINE_BYTES, int STAGES,
          Access A_ACCESS, Access B_ACCESS>
__global__ void __launch_bounds__(ROWS * COLUMNS / WARP_ROWS / WARP_COLUMNS * 32, 1)
matmul_ragged_stream_k(const T* __restrict__ a, const T* __restrict__ b, Result* __restrict__ c,
                       float* __restrict__ partials, int m, int n, int k, long long a_row, long long a_column,
                       long long b_row, long long b_column, long long c_row, long long c_column, int group,
                       long long tiles, long long whole, long long pieces, bool c_aligned) {
    using Tile = Tiling<T, ROWS, COLUMNS, WARP_ROWS, WARP_COLUMNS, LINE_BYTES>;
    extern __shared__ __align__(128) unsigned char shared[];
    const Operand<T> a_lines{a, a_row, a_column, m, k}, b_lines{b, b_column, b_row, n, k};
    Share share(tiles, whole, pieces, max((k - 1) / Tile::DEPTH + 1, 1));
    for (Run run; share.next(run);) {
        long long row, column;
        place<ROWS, COLUMNS>(row, column, run.tile, m, n, group);
        Sums<Tile> sums;
        Pipeline<Tile, STAGES, A_ACCESS, B_ACCESS> pipeline(shared, a_lines, b_lines, row, column);
        pipeline.run(sums, run.start, run.stop);
        if (run.complete) {
            store_staged(sums, Results<Result>{c, c_row, c_column, m, n}, row, column, c_aligned, shared);
        } else {
            const Results<float> partial{partials + run.slot * (ROWS * COLUMNS), COLUMNS, 1, ROWS, COLUMNS};
            store_staged(sums, partial, 0, 0, true, shared);
        }
        __syncthreads();  // the next tile's operands go where these results stood
    }
}

template <typename Result, int ROWS, int COLUMNS>
__global__ void __launch_bounds__(256)
matmul_ragged_join_runs(const float* __restrict__ partials, Result* __restrict__ c, int m, int n, long long c_row,
                        long long c_column, int group, long long tiles, long long whole, long long pieces, int steps,
                        int share) {
    join_runs<ROWS, COLUMNS>(partials, Results<Result>{c, c_row, c_column, m, n}, group, tiles, whole, pieces, steps,
                             share);
}
