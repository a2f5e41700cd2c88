// Barriers and branches.

// A matmul of 32 x 32 x 64 in two steps through shared memory, with or without each of its two barriers.
template <bool BEFORE_USE, bool AFTER_USE>
__global__ void two_barriers(const float* a, const float* b, float* c) {
    __shared__ float a_tile[32][32];
    __shared__ float b_tile[32][32];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    float sum = 0.0f;
    for (int first = 0; first < 64; first += 32) {
        a_tile[y][x] = a[y * 64 + first + x];
        b_tile[y][x] = b[(first + y) * 32 + x];
        if (BEFORE_USE) {
            __syncthreads();
        }
        for (int k = 0; k < 32; ++k) {
            sum += a_tile[y][k] * b_tile[k][x];
        }
        if (AFTER_USE) {
            __syncthreads();
        }
    }
    c[y * 32 + x] = sum;
}

// Threads take one of two branches in turns of RUN; each branch makes WORK fused multiplications and additions.
template <int RUN, int WORK>
__global__ void branch(const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (i / RUN % 2 == 0) {
        for (int k = 0; k < WORK; ++k) {
            v = v * 0.5f + 1.0f;
        }
    } else {
        for (int k = 0; k < WORK; ++k) {
            v = v * 0.25f + 2.0f;
        }
    }
    y[i] = v;
}

// The sum of a warp as every lane sees it: by butterfly and by tree.
extern "C" __global__ void warp_sums(const float* x, float* butterfly, float* tree) {
    float a = x[threadIdx.x], b = a;
    for (int distance = 16; distance > 0; distance /= 2) {
        a += __shfl_xor_sync(0xffffffffu, a, distance);
        b += __shfl_down_sync(0xffffffffu, b, distance);
    }
    butterfly[threadIdx.x] = a;
    tree[threadIdx.x] = b;
}
