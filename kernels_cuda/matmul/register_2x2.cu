// c[m, n] = a[m, k] b[k, n]. Changed: 2 x 2 elements of c per thread, in registers. Two operands of each side make four
// products, 0.5 FLOP/byte instead of 0.25, without any shared memory: the caches are asked half as often. It should
// gain and loses: 29.3 ms for 4096^3 on an H200, where naive.cu takes 24.5. A side step, nothing builds on it; why was
// not measured (there its 34 registers leave 3 of 4 warps of naive.cu's 32; on an A100 32 do for both).
//
// The second column lies a warp's width to the right of the first, so that every load and store stays coalesced.

__global__ void matmul_register_2x2(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                    int m, int n, int k, long long a_row, long long a_column, long long b_row,
                                    long long b_column, long long c_row, long long c_column) {
    constexpr int SIDE = 2;
    const int width = blockDim.x;
    const int across = (n - 1) / (SIDE * width) + 1;  // blocks along a row; grid.x counts all blocks
    const long long row = (static_cast<long long>(blockIdx.x / across) * blockDim.y + threadIdx.y) * SIDE;
    const long long column = static_cast<long long>(blockIdx.x % across) * SIDE * width + threadIdx.x;

    // Elements outside are those of the last row or column: computed, never stored.
    const float *a_element[SIDE], *b_element[SIDE];
#pragma unroll
    for (int s = 0; s < SIDE; ++s) {
        a_element[s] = a + min(row + s, m - 1LL) * a_row;
        b_element[s] = b + min(column + s * width, n - 1LL) * b_column;
    }
    float sum[SIDE][SIDE] = {};
    for (int i = 0; i < k; ++i) {
        float left[SIDE], right[SIDE];
#pragma unroll
        for (int s = 0; s < SIDE; ++s) {
            left[s] = *a_element[s];
            right[s] = *b_element[s];
            a_element[s] += a_column;
            b_element[s] += b_row;
        }
#pragma unroll
        for (int y = 0; y < SIDE; ++y) {
#pragma unroll
            for (int x = 0; x < SIDE; ++x) {
                sum[y][x] += left[y] * right[x];
            }
        }
    }
#pragma unroll
    for (int y = 0; y < SIDE; ++y) {
#pragma unroll
        for (int x = 0; x < SIDE; ++x) {
            if (row + y < m && column + x * width < n) {
                c[(row + y) * c_row + (column + x * width) * c_column] = sum[y][x];
            }
        }
    }
}
