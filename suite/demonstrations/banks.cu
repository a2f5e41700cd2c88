// Shared memory: columns of a tile with and without padding, and where a matmul keeps its second operand.

// y = x transposed within one tile of 32 x 32.
template <int PAD>
__global__ void column(const float* x, float* y) {
    __shared__ float tile[32][32 + PAD];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// Every lane of a warp reads the same word.
extern "C" __global__ void broadcast(const float* x, float* y) {
    __shared__ float row[32];
    if (threadIdx.y == 0) {
        row[threadIdx.x] = x[threadIdx.x];
    }
    __syncthreads();
    y[threadIdx.y * 32 + threadIdx.x] = row[threadIdx.y];
}

// Word `stride * lane` of shared memory by every lane.
extern "C" __global__ void stride_of(const float* x, float* y, int stride) {
    __shared__ float words[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) {
        words[i] = x[i];
    }
    __syncwarp();
    y[threadIdx.x] = words[threadIdx.x * stride];
}

// c = a b for 32 x 32: b as it is, transposed in shared memory, or transposed with a padding element.
enum Layout { AS_IT_IS, TRANSPOSED, PADDED };

template <int LAYOUT>
__global__ void matmul(const float* a, const float* b, float* c) {
    __shared__ float a_tile[32][32];
    __shared__ float b_tile[32][LAYOUT == PADDED ? 33 : 32];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    a_tile[y][x] = a[y * 32 + x];
    if (LAYOUT == AS_IT_IS) {
        b_tile[y][x] = b[y * 32 + x];
    } else {
        b_tile[x][y] = b[y * 32 + x];
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 32; ++k) {
        if (LAYOUT == AS_IT_IS) {
            sum += a_tile[y][k] * b_tile[k][x];
        } else {
            sum += a_tile[y][k] * b_tile[x][k];
        }
    }
    c[y * 32 + x] = sum;
}
