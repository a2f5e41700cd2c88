// Correct kernels whose counts are known from theory.

#include <cuda_runtime.h>

struct Record {
    float field[8];
};

extern "C" __global__ void vadd(const float* __restrict__ a, const float* __restrict__ b, float* c, int n, int offset) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i + offset] = a[i + offset] + b[i + offset];
    }
}

extern "C" __global__ void aos(const Record* p, float* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = p[i].field[0];
}

extern "C" __global__ void strided(const float* p, float* o, int n, int s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = p[i * s];
}

extern "C" __global__ void vadd4(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int packs = n / 4;
    if (i < packs) {
        float4 x = reinterpret_cast<const float4*>(a)[i];
        float4 y = reinterpret_cast<const float4*>(b)[i];
        reinterpret_cast<float4*>(c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
    int t = packs * 4 + i;
    if (i < n - packs * 4) {
        c[t] = a[t] + b[t];
    }
}

template <int PAD>
__global__ void transpose(const float* a, float* b, int h, int w) {
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += blockDim.y) {
        if (x < w && y + j < h) tile[j][threadIdx.x] = a[(y + j) * w + x];
    }
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32;
    for (int j = threadIdx.y; j < 32; j += blockDim.y) {
        if (x < h && y + j < w) b[(y + j) * h + x] = tile[threadIdx.x][j];
    }
}

extern "C" __global__ void reduce_tree(const float* a, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * 256 + t;
    s[t] = i < n ? a[i] : 0.0f;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, s[0]);
}

template <int T>
__global__ void __launch_bounds__(T* T) sgemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    int row = blockIdx.y * T + threadIdx.y;
    int column = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[threadIdx.y][threadIdx.x] = (row < M && k0 + (int)threadIdx.x < K) ? A[row * K + k0 + threadIdx.x] : 0.f;
        Bs[threadIdx.y][threadIdx.x] = (k0 + (int)threadIdx.y < K && column < N) ? B[(k0 + threadIdx.y) * N + column] : 0.f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
}

extern "C" __global__ void row_sums(const int* starts, const float* values, float* sums, int rows) {
    for (int r = threadIdx.x; r < rows; r += blockDim.x) {
        float s = 0;
        for (int j = starts[r]; j < starts[r + 1]; j++) s += values[j];
        sums[r] = s;
    }
}
