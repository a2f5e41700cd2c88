// FLOPs per byte: how many results a thread and a block make of what they read. All extents are multiples of the tiles.

// c = a b + c, element by element.
extern "C" __global__ void multiply_add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] * b[i] + c[i];
    }
}

// c[n, n] = a b from global memory, SIDE x SIDE results per thread.
template <int SIDE>
__global__ void from_global(const float* a, const float* b, float* c, int n) {
    const int row = (blockIdx.y * blockDim.y + threadIdx.y) * SIDE;
    const int column = (blockIdx.x * blockDim.x + threadIdx.x) * SIDE;
    float sum[SIDE][SIDE] = {};
    for (int k = 0; k < n; ++k) {
        float left[SIDE], right[SIDE];
        for (int i = 0; i < SIDE; ++i) {
            left[i] = a[(row + i) * n + k];
            right[i] = b[k * n + column + i];
        }
        for (int i = 0; i < SIDE; ++i) {
            for (int j = 0; j < SIDE; ++j) {
                sum[i][j] += left[i] * right[j];
            }
        }
    }
    for (int i = 0; i < SIDE; ++i) {
        for (int j = 0; j < SIDE; ++j) {
            c[(row + i) * n + column + j] = sum[i][j];
        }
    }
}

// c[n, n] = a b through tiles of ROWS x COLUMNS results and DEPTH products, SIDE x SIDE results per thread.
template <int ROWS, int COLUMNS, int DEPTH, int SIDE>
__global__ void from_shared(const float* a, const float* b, float* c, int n) {
    __shared__ float a_tile[ROWS][DEPTH];
    __shared__ float b_tile[DEPTH][COLUMNS];
    constexpr int THREADS = ROWS * COLUMNS / (SIDE * SIDE);
    const int x = threadIdx.x % (COLUMNS / SIDE);
    const int y = threadIdx.x / (COLUMNS / SIDE);
    float sum[SIDE][SIDE] = {};
    for (int first = 0; first < n; first += DEPTH) {
        for (int i = threadIdx.x; i < ROWS * DEPTH; i += THREADS) {
            a_tile[i / DEPTH][i % DEPTH] = a[(blockIdx.y * ROWS + i / DEPTH) * n + first + i % DEPTH];
        }
        for (int i = threadIdx.x; i < DEPTH * COLUMNS; i += THREADS) {
            b_tile[i / COLUMNS][i % COLUMNS] = b[(first + i / COLUMNS) * n + blockIdx.x * COLUMNS + i % COLUMNS];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k) {
            float left[SIDE], right[SIDE];
            for (int i = 0; i < SIDE; ++i) {
                left[i] = a_tile[y + i * (ROWS / SIDE)][k];
                right[i] = b_tile[k][x + i * (COLUMNS / SIDE)];
            }
            for (int i = 0; i < SIDE; ++i) {
                for (int j = 0; j < SIDE; ++j) {
                    sum[i][j] += left[i] * right[j];
                }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < SIDE; ++i) {
        for (int j = 0; j < SIDE; ++j) {
            const int row = blockIdx.y * ROWS + y + i * (ROWS / SIDE);
            c[row * n + blockIdx.x * COLUMNS + x + j * (COLUMNS / SIDE)] = sum[i][j];
        }
    }
}
