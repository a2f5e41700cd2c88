// c[m, n] = a[m, k] b[k, n], one element of c per thread, and the neighbours in a warp lie below each other: a load of
// a touches 32 rows, a sector for every 4 bytes, and so does the store of c.

__global__ void matmul_naive_uncoalesced(const float* __restrict__ a, const float* __restrict__ b,
                                         float* __restrict__ c, int m, int n, int k, long long a_row,
                                         long long a_column, long long b_row, long long b_column, long long c_row,
                                         long long c_column) {
    const int across = (n - 1) / static_cast<int>(blockDim.y) + 1;  // blocks along a row; grid.x counts all blocks
    const long long row = static_cast<long long>(blockIdx.x / across) * blockDim.x + threadIdx.x;
    const long long column = static_cast<long long>(blockIdx.x % across) * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) {
        return;
    }
    const float* a_element = a + row * a_row;
    const float* b_element = b + column * b_column;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += *a_element * *b_element;
        a_element += a_column;
        b_element += b_row;
    }
    c[row * c_row + column * c_column] = sum;
}
