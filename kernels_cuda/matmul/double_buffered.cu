// c[m, n] = a[m, k] b[k, n]. Changed: two tiles of each operand. While one pair is multiplied, the next is copied by
// cp.async, straight into shared memory and without passing through registers: nobody waits for memory, and one barrier
// per tile is enough, because what is overwritten was read before the barrier. 4096^3 on an H200: 4.43 ms after 4.69.
//
// cp.async copies what lies together, so that a's tile is transposed by copies of four bytes: lanes are 8 steps x 4
// rows, four whole sectors of global memory, and with 4 words of padding 32 banks of shared memory.

#include <cuda_pipeline.h>

__device__ __forceinline__ float4 load(const float* from) { return *reinterpret_cast<const float4*>(from); }

// Starts a copy of WORDS words, or of zeros where they are not inside; `from` is read only inside.
template <int WORDS>
__device__ __forceinline__ void copy(float* to, const float* from, const float* valid, bool inside) {
    __pipeline_memcpy_async(to, inside ? from : valid, 4 * WORDS, inside ? 0 : 4 * WORDS);
}

template <bool WIDE>
__global__ void __launch_bounds__(256)
matmul_double_buffered(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
                       int k, long long a_row, long long a_column, long long b_row, long long b_column,
                       long long c_row, long long c_column) {
    constexpr int TILE = 64, DEPTH = 16, SIDE = 4, PITCH = TILE + 4, B_PITCH = WIDE ? TILE : PITCH;
    __shared__ __align__(16) float a_tiles[2][DEPTH][PITCH];
    __shared__ __align__(16) float b_tiles[2][DEPTH][B_PITCH];
    const int thread = threadIdx.x;
    const int x = thread % 16 * SIDE;
    const int y = thread / 16 * SIDE;
    const int across = (n - 1) / TILE + 1;  // tiles along a row; grid.x counts all blocks
    const long long first_row = static_cast<long long>(blockIdx.x / across) * TILE;
    const long long first_column = static_cast<long long>(blockIdx.x % across) * TILE;
    const long long columns_left = n - first_column - x;

    const int a_step = thread % 8, a_y = thread / 8;  // and 8 steps on, and 32 rows below
    // Words of b are copied as those of a: in at most twice the sectors that rows at multiples of 16 bytes must take.
    const int b_step = WIDE ? thread / 16 : thread % 8, b_x = WIDE ? x : thread / 8;
    const float* from_a = a + (first_row + a_y) * a_row + a_step * a_column;
    const float* from_b = b + b_step * b_row + (first_column + b_x) * b_column;

    const auto copy_tiles = [&](int buffer, int left) {
#pragma unroll
        for (int s = 0; s < SIDE; ++s) {
            const int step = a_step + s / 2 * 8, row = a_y + s % 2 * 32;
            const bool inside = first_row + row < m && step < left;
            copy<1>(&a_tiles[buffer][step][row], from_a + s / 2 * 8 * a_column + s % 2 * 32 * a_row, a, inside);
        }
        if (WIDE) {
            copy<4>(&b_tiles[buffer][b_step][x], from_b, b, b_step < left && columns_left >= 4);
        } else {
#pragma unroll
            for (int s = 0; s < SIDE; ++s) {
                const int step = b_step + s / 2 * 8, column = b_x + s % 2 * 32;
                const bool inside = first_column + column < n && step < left;
                copy<1>(&b_tiles[buffer][step][column], from_b + s / 2 * 8 * b_row + s % 2 * 32 * b_column, b, inside);
            }
        }
        __pipeline_commit();
        from_a += DEPTH * a_column;
        from_b += DEPTH * b_row;
    };

    float sum[SIDE][SIDE] = {};
    int buffer = 0;
    if (k > 0) {
        copy_tiles(buffer, k);
    }
    for (int left = k; left > 0; left -= DEPTH) {
        __pipeline_wait_prior(0);
        __syncthreads();  // this pair has arrived, and everybody is done with the other one
        if (left > DEPTH) {
            copy_tiles(buffer ^ 1, left - DEPTH);
        }
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            const float4 rows = load(&a_tiles[buffer][i][y]), columns = load(&b_tiles[buffer][i][x]);
            const float left_operand[SIDE] = {rows.x, rows.y, rows.z, rows.w};
            const float right_operand[SIDE] = {columns.x, columns.y, columns.z, columns.w};
#pragma unroll
            for (int r = 0; r < SIDE; ++r) {
#pragma unroll
                for (int s = 0; s < SIDE; ++s) {
                    sum[r][s] += left_operand[r] * right_operand[s];
                }
            }
        }
        buffer ^= 1;
    }
#pragma unroll
    for (int r = 0; r < SIDE; ++r) {
        const long long row = first_row + y + r;
        float* to = c + row * c_row + (first_column + x) * c_column;
        if (row < m && WIDE && columns_left >= SIDE) {
            *reinterpret_cast<float4*>(to) = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
        } else if (row < m) {
#pragma unroll
            for (int s = 0; s < SIDE; ++s) {
                if (s < columns_left) {
                    to[s * c_column] = sum[r][s];
                }
            }
        }
    }
}
