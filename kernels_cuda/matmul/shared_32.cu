// c[m, n] = a[m, k] b[k, n] by tiles of 32 x 32: a block reads a tile of a and one of b into shared memory and uses every
// element 32 times. Elements outside the matrices are zeros in the tiles and add nothing.

__global__ void __launch_bounds__(1024)
matmul_shared_32(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k,
                 long long a_row, long long a_column, long long b_row, long long b_column, long long c_row,
                 long long c_column) {
    constexpr int TILE = 32;
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int across = (n + TILE - 1) / TILE;  // tiles along a row; all blocks are counted in grid.x
    const long long row = static_cast<long long>(blockIdx.x / across) * TILE + y;
    const long long column = static_cast<long long>(blockIdx.x % across) * TILE + x;

    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        a_tile[y][x] = row < m && first + x < k ? a[row * a_row + (first + x) * a_column] : 0.0f;
        b_tile[y][x] = first + y < k && column < n ? b[(first + y) * b_row + column * b_column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i) {
            sum += a_tile[y][i] * b_tile[i][x];  // one address per warp, and 32 neighbours: no bank conflict
        }
        __syncthreads();  // nobody may overwrite a tile that another warp still reads
    }
    if (row < m && column < n) {
        c[row * c_row + column * c_column] = sum;
    }
}
