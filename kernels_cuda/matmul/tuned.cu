// c[m, n] = a[m, k] b[k, n], of both rungs tuned_128 and tuned. This is the sum of six changes to double_buffered.cu:
// tiles of 128 x 128 instead of 64 x 64; 16 x 8 results per thread; four tiles in flight instead of two; blocks that go
// down GROUP tiles of c before they go right, so that those running at a time share panels in L2; the next step's
// operands in registers, and lanes spread so that their requests join (multiply.cuh). Together 2.63 ms for 4096^3 on an
// H200 after 4.43; what each of them buys was not measured one by one. What the largest should: an SM multiplies 128
// times per clock and its shared memory delivers 128 bytes: the 16 products of 4 x 4 want two LDS.128, which is more
// than there is, the 128 of 16 x 8 want six, and of the instructions issued 11 in 12 are FFMA.
//
// tuned differs from tuned_128 by its choice of a tile (tiles.py): other ones for smaller matrices, and for large ones
// 12 x 8 results, which leave room for a third block. At 4096^3 it chooses the same tile and gains nothing.

#include "multiply.cuh"

using namespace ordinary;

template <int ROWS, int COLUMNS, int DEPTH, int HEIGHT, int WIDTH, int SLICES, int STAGES, int RESIDENT, Layout A,
          Layout B, typename Offset, bool WIDE>
__global__ void __launch_bounds__(SLICES * ROWS * COLUMNS / HEIGHT / WIDTH, RESIDENT)
matmul_tuned(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k,
             long long a_row, long long a_column, long long b_row, long long b_column, long long c_row,
             long long c_column) {
    constexpr int GROUP = 8;
    extern __shared__ float4 memory[];
    const int down = (m - 1) / ROWS + 1, across = (n - 1) / COLUMNS + 1;
    const int group = blockIdx.x / (GROUP * across), within = blockIdx.x % (GROUP * across);
    const int rows_of_group = min(GROUP, down - group * GROUP);
    const int row = (group * GROUP + within % rows_of_group) * ROWS;
    const int column = within / rows_of_group * COLUMNS;
    multiply<Tile<ROWS, COLUMNS, DEPTH, HEIGHT, WIDTH, SLICES, STAGES>, A, B, Offset, WIDE>(
        memory, a + row * a_row, b + column * b_column, c + row * c_row + column * c_column, m - row, n - column, k,
        a_row, a_column, b_row, b_column, c_row, c_column);
}
