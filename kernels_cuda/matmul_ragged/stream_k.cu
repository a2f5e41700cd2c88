// c[m, n] = a[m, k] b[k, n] with as many blocks as the device holds (stream K: Osama et al., 2023). As long as every
// block has a whole tile of c it computes one; the steps along k of the tiles that are left are cut into equal pieces,
// wherever tiles begin and end. Pieces of a tile go to the workspace, and a second kernel adds them up.

#include "../matmul_tensor/pipeline.cuh"
#include "join.cuh"

// Piece p of `pieces` begins at this step of `total`: all are equal up to one step.
__device__ long long piece_start(long long p, long long total, long long pieces) {
    return p * total / pieces;
}

// partials[block][2][ROWS][COLUMNS]: of the tile that a block's piece begins in, and of the one that it ends in.
template <typename T, typename Result, int ROWS, int COLUMNS, int WARP_ROWS, int WARP_COLUMNS, int LINE_BYTES, int STAGES,
          Access A_ACCESS, Access B_ACCESS>
__global__ void __launch_bounds__(ROWS * COLUMNS / WARP_ROWS / WARP_COLUMNS * 32)
matmul_ragged_stream_k(const T* __restrict__ a, const T* __restrict__ b, Result* __restrict__ c,
                       float* __restrict__ partials, int m, int n, int k, long long a_row, long long a_column,
                       long long b_row, long long b_column, long long c_row, long long c_column, int group,
                       long long tiles, long long whole, long long pieces, bool c_aligned) {
    using Tile = Tiling<T, ROWS, COLUMNS, WARP_ROWS, WARP_COLUMNS, LINE_BYTES>;
    extern __shared__ __align__(128) unsigned char shared[];
    const Operand<T> a_lines{a, a_row, a_column, m, k}, b_lines{b, b_column, b_row, n, k};
    const int steps = (max(k, 1) - 1) / Tile::DEPTH + 1;
    const long long total = (tiles - whole) * steps, begin = piece_start(min(static_cast<long long>(blockIdx.x), pieces), total, pieces);
    const long long end = piece_start(min(static_cast<long long>(blockIdx.x) + 1, pieces), total, pieces);
    long long tile = blockIdx.x, at = begin;
    while (tile < whole || at < end) {
        const bool undivided = tile < whole;
        const long long here = undivided ? tile : whole + at / steps;
        const int start = undivided ? 0 : static_cast<int>(at % steps);
        const int stop = undivided ? steps : static_cast<int>(min(static_cast<long long>(steps), start + end - at));
        long long row, column;
        place<Tile>(row, column, here, m, n, group);
        Sums<Tile> sums;
        Pipeline<Tile, STAGES, A_ACCESS, B_ACCESS> pipeline(shared, a_lines, b_lines, row, column);
        pipeline.run(sums, start, stop);
        if (stop - start == steps) {
            store_staged(sums, Results<Result>{c, c_row, c_column, m, n}, row, column, c_aligned, shared);
        } else {
            const long long slot = 2 * static_cast<long long>(blockIdx.x) + (at != begin);
            const Results<float> partial{partials + slot * (ROWS * COLUMNS), COLUMNS, 1, ROWS, COLUMNS};
            store_staged(sums, partial, 0, 0, true, shared);
        }
        __syncthreads();  // the next tile's operands go where these results stood
        tile = undivided ? tile + gridDim.x : tile;
        at = undivided ? at : at + stop - start;
    }
}

// Adds up the pieces of tile whole + blockIdx.x; a tile that one piece covers is in c already.
template <typename T, typename Result, int ROWS, int COLUMNS, int LINE_BYTES>
__global__ void __launch_bounds__(256)
matmul_ragged_join_pieces(const float* __restrict__ partials, Result* __restrict__ c, int m, int n, int k,
                          long long c_row, long long c_column, int group, long long tiles, long long whole,
                          long long pieces) {
    using Tile = Tiling<T, ROWS, COLUMNS, ROWS, COLUMNS, LINE_BYTES>;
    const int steps = (max(k, 1) - 1) / Tile::DEPTH + 1;
    const long long total = (tiles - whole) * steps, start = static_cast<long long>(blockIdx.x) * steps;
    long long first = start * pieces / total, last = (start + steps - 1) * pieces / total;
    while (piece_start(first + 1, total, pieces) <= start) {
        ++first;
    }
    while (piece_start(last + 1, total, pieces) < start + steps) {
        ++last;
    }
    if (first == last) {
        return;
    }
    long long row, column;
    place<Tile>(row, column, whole + blockIdx.x, m, n, group);
    const auto piece = [&](int p) {
        const bool ends_here = piece_start(p, total, pieces) < start;
        return partials + (2ll * p + ends_here) * (ROWS * COLUMNS);
    };
    const int count = static_cast<int>(last - first + 1), share = count > 4 ? 8 : count > 2 ? 4 : 2;
    join<ROWS, COLUMNS>(Results<Result>{c, c_row, c_column, m, n}, row, column, static_cast<int>(first),
                        static_cast<int>(last) + 1, share, piece);
}
