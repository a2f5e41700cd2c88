// As ../split_k.cu on the ordinary cores, in f32: gridDim.y blocks share a tile of c, each `span` of the k products.

#include "../../matmul/multiply.cuh"
#include "../join.cuh"

using namespace ordinary;

// partials[part][tile][ROWS][COLUMNS]
template <int ROWS, int COLUMNS, int DEPTH, int HEIGHT, int WIDTH, int SLICES, int STAGES, int RESIDENT, Layout A,
          Layout B, typename Offset>
__global__ void __launch_bounds__(SLICES * ROWS * COLUMNS / HEIGHT / WIDTH, RESIDENT)
matmul_ragged_ordinary_split_k(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ partials,
                               int m, int n, int k, long long a_row, long long a_column, long long b_row,
                               long long b_column, int group, int span) {
    extern __shared__ float4 memory[];
    long long row, column;
    place<ROWS, COLUMNS>(row, column, blockIdx.x, m, n, group);
    const long long done = static_cast<long long>(blockIdx.y) * span;
    const long long slot = static_cast<long long>(blockIdx.y) * gridDim.x + blockIdx.x;
    multiply<Tile<ROWS, COLUMNS, DEPTH, HEIGHT, WIDTH, SLICES, STAGES>, A, B, Offset, true>(
        memory, a + row * a_row + done * a_column, b + column * b_column + done * b_row,
        partials + slot * (ROWS * COLUMNS), static_cast<int>(m - row), static_cast<int>(n - column),
        static_cast<int>(min(static_cast<long long>(span), k - done)), a_row, a_column, b_row, b_column, COLUMNS, 1);
}

template <int ROWS, int COLUMNS>
__global__ void __launch_bounds__(256)
matmul_ragged_ordinary_join(const float* __restrict__ partials, float* __restrict__ c, int m, int n, long long c_row,
                            long long c_column, int group, int parts, int share) {
    long long row, column;
    place<ROWS, COLUMNS>(row, column, blockIdx.x, m, n, group);
    const auto piece = [&](int p) {
        return partials + (static_cast<long long>(p) * gridDim.x + blockIdx.x) * (ROWS * COLUMNS);
    };
    join<ROWS, COLUMNS>(Results<float>{c, c_row, c_column, m, n}, row, column, 0, parts, share, piece);
}
