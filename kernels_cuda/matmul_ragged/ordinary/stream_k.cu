// As ../stream_k.cu on the ordinary cores, in f32.

#include "../../matmul/multiply.cuh"
#include "../join.cuh"

using namespace ordinary;

// partials[slot][ROWS][COLUMNS]
template <int ROWS, int COLUMNS, int DEPTH, int HEIGHT, int WIDTH, int SLICES, int STAGES, int RESIDENT, Layout A,
          Layout B, typename Offset>
__global__ void __launch_bounds__(SLICES * ROWS * COLUMNS / HEIGHT / WIDTH, RESIDENT)
matmul_ragged_ordinary_stream_k(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                float* __restrict__ partials, int m, int n, int k, long long a_row, long long a_column,
                                long long b_row, long long b_column, long long c_row, long long c_column, int group,
                                long long tiles, long long whole, long long pieces) {
    extern __shared__ float4 memory[];
    Share share(tiles, whole, pieces, max((k - 1) / DEPTH + 1, 1));
    for (Run run; share.next(run);) {
        long long row, column;
        place<ROWS, COLUMNS>(row, column, run.tile, m, n, group);
        const long long done = static_cast<long long>(run.start) * DEPTH;
        const long long stop = min(static_cast<long long>(run.stop) * DEPTH, static_cast<long long>(k));
        float* to = run.complete ? c + row * c_row + column * c_column : partials + run.slot * (ROWS * COLUMNS);
        multiply<Tile<ROWS, COLUMNS, DEPTH, HEIGHT, WIDTH, SLICES, STAGES>, A, B, Offset, false>(
            memory, a + row * a_row + done * a_column, b + column * b_column + done * b_row, to,
            static_cast<int>(m - row), static_cast<int>(n - column), static_cast<int>(stop - done), a_row, a_column,
            b_row, b_column, run.complete ? c_row : COLUMNS, run.complete ? c_column : 1);
        __syncthreads();  // the next tile's operands go where this one's were
    }
}

template <int ROWS, int COLUMNS>
__global__ void __launch_bounds__(256)
matmul_ragged_ordinary_join_runs(const float* __restrict__ partials, float* __restrict__ c, int m, int n,
                                 long long c_row, long long c_column, int group, long long tiles, long long whole,
                                 long long pieces, int steps, int share) {
    join_runs<ROWS, COLUMNS>(partials, Results<float>{c, c_row, c_column, m, n}, group, tiles, whole, pieces, steps,
                             share);
}
