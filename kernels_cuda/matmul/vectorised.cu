// c[m, n] = a[m, k] b[k, n]. Changed: 16 bytes per access. A thread brings one float4 of each tile and reads its four
// rows and its four columns with one load each: a quarter of the load instructions, two LDS.128 for 16 products. 4096^3
// on an H200: 4.69 ms after 5.65.
//
// For that a thread's rows and columns are neighbours, and a's tile lies transposed, with 4 words of padding per row:
// of the stores of a warp, 16 rows of two steps 4 apart, each has a bank of its own (2 steps x 4 x 68 words apart,
// modulo 32). Where the rows of a matrix are not aligned to 16 bytes (WIDE is false), or end within one, elements go
// one by one.

__device__ __forceinline__ float4 load(const float* from) { return *reinterpret_cast<const float4*>(from); }

// Four elements `stride` apart, zeros from the index `left` on.
template <bool WIDE>
__device__ __forceinline__ float4 load_four(const float* from, long long stride, long long left) {
    if (WIDE && left >= 4) {
        return load(from);
    }
    return make_float4(left > 0 ? from[0] : 0.0f, left > 1 ? from[stride] : 0.0f, left > 2 ? from[2 * stride] : 0.0f,
                       left > 3 ? from[3 * stride] : 0.0f);
}

template <bool WIDE>
__global__ void __launch_bounds__(256)
matmul_vectorised(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k,
                  long long a_row, long long a_column, long long b_row, long long b_column, long long c_row,
                  long long c_column) {
    constexpr int TILE = 64, DEPTH = 16, SIDE = 4, PITCH = TILE + 4;
    __shared__ __align__(16) float a_tile[DEPTH][PITCH];
    __shared__ __align__(16) float b_tile[DEPTH][TILE];
    const int thread = threadIdx.x;
    const int x = thread % 16 * SIDE;
    const int y = thread / 16 * SIDE;
    const int across = (n - 1) / TILE + 1;  // tiles along a row; grid.x counts all blocks
    const long long first_row = static_cast<long long>(blockIdx.x / across) * TILE;
    const long long first_column = static_cast<long long>(blockIdx.x % across) * TILE;

    const int a_y = thread / 64 * 16 + thread / 2 % 16;                  // the row and
    const int a_step = thread % 2 * SIDE + thread / 32 % 2 * 2 * SIDE;  // the first step that this thread brings
    const int b_step = thread / 16;
    const float* from_a = a + (first_row + a_y) * a_row + a_step * a_column;
    const float* from_b = b + b_step * b_row + (first_column + x) * b_column;
    const long long b_left = n - first_column - x;

    float sum[SIDE][SIDE] = {};
    for (int left = k; left > 0; left -= DEPTH) {
        const float4 four = load_four<WIDE>(from_a, a_column, first_row + a_y < m ? left - a_step : 0);
        a_tile[a_step][a_y] = four.x;
        a_tile[a_step + 1][a_y] = four.y;
        a_tile[a_step + 2][a_y] = four.z;
        a_tile[a_step + 3][a_y] = four.w;
        *reinterpret_cast<float4*>(&b_tile[b_step][x]) = load_four<WIDE>(from_b, b_column, b_step < left ? b_left : 0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            const float4 rows = load(&a_tile[i][y]), columns = load(&b_tile[i][x]);
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
        __syncthreads();  // nobody may overwrite a tile that another warp still reads
        from_a += DEPTH * a_column;
        from_b += DEPTH * b_row;
    }
#pragma unroll
    for (int r = 0; r < SIDE; ++r) {
        const long long row = first_row + y + r;
        float* to = c + row * c_row + (first_column + x) * c_column;
        if (row < m && WIDE && b_left >= SIDE) {
            *reinterpret_cast<float4*>(to) = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
        } else if (row < m) {
#pragma unroll
            for (int s = 0; s < SIDE; ++s) {
                if (s < b_left) {
                    to[s * c_column] = sum[r][s];
                }
            }
        }
    }
}
