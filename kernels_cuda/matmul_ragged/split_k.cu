// c[m, n] = a[m, k] b[k, n] with k in equal parts: gridDim.y blocks share a tile of c, so that few tiles fill a device.
// What each finds goes to the workspace, and a second kernel adds it up.

#include "../matmul_tensor/pipeline.cuh"
#include "join.cuh"

// partials[part][tile][ROWS][COLUMNS]; one part alone stores its results.
template <typename T, typename Result, int ROWS, int COLUMNS, int WARP_ROWS, int WARP_COLUMNS, int LINE_BYTES, int STAGES,
          Access A_ACCESS, Access B_ACCESS>
__global__ void __launch_bounds__(ROWS * COLUMNS / WARP_ROWS / WARP_COLUMNS * 32, 1)
matmul_ragged_split_k(const T* __restrict__ a, const T* __restrict__ b, Result* __restrict__ c,
                      float* __restrict__ partials, int m, int n, int k, long long a_row, long long a_column,
                      long long b_row, long long b_column, long long c_row, long long c_column, int group, int steps,
                      bool c_aligned) {
    using Tile = Tiling<T, ROWS, COLUMNS, WARP_ROWS, WARP_COLUMNS, LINE_BYTES>;
    extern __shared__ __align__(128) unsigned char shared[];
    long long row, column;
    place<ROWS, COLUMNS>(row, column, blockIdx.x, m, n, group);
    const int all = (k - 1) / Tile::DEPTH + 1, start = min(static_cast<int>(blockIdx.y) * steps, all);

    Sums<Tile> sums;
    const Operand<T> a_lines{a, a_row, a_column, m, k}, b_lines{b, b_column, b_row, n, k};
    Pipeline<Tile, STAGES, A_ACCESS, B_ACCESS> pipeline(shared, a_lines, b_lines, row, column);
    pipeline.run(sums, start, min(start + steps, all));
    if (gridDim.y == 1) {
        store_staged(sums, Results<Result>{c, c_row, c_column, m, n}, row, column, c_aligned, shared);
    } else {
        const long long slot = static_cast<long long>(blockIdx.y) * gridDim.x + blockIdx.x;
        const Results<float> partial{partials + slot * (ROWS * COLUMNS), COLUMNS, 1, ROWS, COLUMNS};
        store_staged(sums, partial, 0, 0, true, shared);
    }
}

template <typename T, typename Result, int ROWS, int COLUMNS>
__global__ void __launch_bounds__(256)
matmul_ragged_join(const float* __restrict__ partials, Result* __restrict__ c, int m, int n, long long c_row,
                   long long c_column, int group, int parts, int share) {
    long long row, column;
    place<ROWS, COLUMNS>(row, column, blockIdx.x, m, n, group);
    const auto piece = [&](int p) {
        return partials + (static_cast<long long>(p) * gridDim.x + blockIdx.x) * (ROWS * COLUMNS);
    };
    join<ROWS, COLUMNS>(Results<Result>{c, c_row, c_column, m, n}, row, column, 0, parts, share, piece);
}
