// One warp, or a few blocks of an odd shape: access patterns that the models of cuda_cpu were not fitted to.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <roofline/tensor_core.cuh>

// Lane l loads element index[l] of x, a T of one or more S; a negative index keeps it out.
template <typename T, typename S>
__global__ void global_load(const int* index, const S* x, S* out) {
    const int i = index[threadIdx.x];
    if (i >= 0) reinterpret_cast<T*>(out)[threadIdx.x] = reinterpret_cast<const T*>(x)[i];
}

template <typename T, typename S>
__global__ void global_store(const int* index, const S* x, S* out) {
    const int i = index[threadIdx.x];
    if (i >= 0) reinterpret_cast<T*>(out)[i] = reinterpret_cast<const T*>(x)[threadIdx.x];
}

// The same through shared memory, 8 KiB of it.
template <typename T, typename S>
__global__ void shared_move(const int* from, const int* to, const S* in, S* result) {
    const T* x = reinterpret_cast<const T*>(in);
    T* out = reinterpret_cast<T*>(result);
    constexpr int N = 8192 / sizeof(T);
    __shared__ __align__(16) T words[N];
    for (int i = threadIdx.x; i < N; i += 32) words[i] = x[threadIdx.x];
    __syncwarp();
    const int i = from[threadIdx.x], k = to[threadIdx.x];
    if (k >= 0) words[k] = x[threadIdx.x];
    __syncwarp();
    if (i >= 0) out[threadIdx.x] = words[i];
}

enum Operation { ADD, MIN, EXCHANGE, SWAP };

template <typename T, int OPERATION>
__device__ T update(T* p, T v) {
    if constexpr (OPERATION == ADD) return atomicAdd(p, v);
    else if constexpr (OPERATION == MIN) return atomicMin(p, v);
    else if constexpr (OPERATION == EXCHANGE) return atomicExch(p, v);
    else return atomicCAS(p, T(0), v);
}

template <typename T, int OPERATION, bool RETURNS>
__global__ void global_atomic(const int* index, T* x, T* out) {
    const int i = index[threadIdx.x];
    if (i < 0) return;
    const T old = update<T, OPERATION>(&x[i], T(threadIdx.x + 1));
    if (RETURNS) out[threadIdx.x] = old;
}

template <typename T, int OPERATION>
__global__ void shared_atomic(const int* index, T* out) {
    __shared__ T words[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) words[i] = 0;
    __syncwarp();
    const int i = index[threadIdx.x];
    if (i >= 0) update<T, OPERATION>(&words[i], T(threadIdx.x + 1));
    __syncwarp();
    out[threadIdx.x] = words[threadIdx.x];
}

// Lane l copies BYTES from byte from[l] of x to byte to[l] of shared memory; of them zeros[l] are filled with zeros.
template <int BYTES>
__global__ void copy_async(const float* x, const int* from, const int* to, const int* zeros, float* out) {
    __shared__ __align__(16) float words[2048];
    const int byte = to[threadIdx.x];
    if (byte >= 0) {
        __pipeline_memcpy_async(reinterpret_cast<char*>(words) + byte, reinterpret_cast<const char*>(x) + from[threadIdx.x], BYTES,
                                zeros[threadIdx.x]);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (byte >= 0) out[threadIdx.x] = words[byte / 4];
}

// Matrices whose rows lie `pitch` words apart.
template <int MATRICES, bool TRANSPOSED>
__global__ void matrix_pitch(float* out, int pitch, int skew) {
    __shared__ __align__(16) float words[4096];
    for (int i = threadIdx.x; i < 4096; i += 32) words[i] = i;
    __syncwarp();
    unsigned registers[MATRICES];
    const int row = threadIdx.x % 8, matrix = threadIdx.x / 8;
    roofline::ldmatrix<MATRICES, TRANSPOSED>(registers, &words[(row * pitch + (matrix + row * skew) % 4 * 4) % 4096]);
    for (int m = 0; m < MATRICES; ++m) out[m * 32 + threadIdx.x] = __uint_as_float(registers[m]);
}

// Loops, branches and early exits whose lanes part and meet again.
extern "C" __global__ void nested_loops(const int* starts, const int* inner, const float* x, float* y, int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = starts[row]; i < starts[row + 1]; ++i) {
        for (int j = 0; j < inner[i]; ++j) {
            const float v = x[i * 8 + j];
            if (v < 0.1f) break;
            if (v < 0.3f) continue;
            sum += v;
        }
        if (sum > 6.0f) {
            y[row] = -sum;
            return;
        }
    }
    y[row] = sum;
}

extern "C" __global__ void cases(const int* kind, const float* a, const float* b, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v;
    switch (kind[i]) {
        case 0: v = a[i]; break;
        case 1: v = a[2 * i]; break;
        case 2: v = b[i] + a[n - 1 - i]; break;
        case 3: v = b[i * 3 % n]; break;
        default: return;
    }
    y[i] = v;
}

// A block of any shape walks over a matrix of any shape.
extern "C" __global__ void odd_blocks(const float* x, float* y, int height, int width) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < height && column < width) y[column * height + row] = x[row * width + column];
}

// Search by halves: every lane takes its own way through the array.
extern "C" __global__ void lower_bound(const float* sorted, const float* keys, int* places, int size, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float key = keys[i];
    int low = 0, high = size;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < key) low = middle + 1;
        else high = middle;
    }
    places[i] = low;
}

// Strides over the grid, with a vector type and a tail in bytes.
template <typename T, typename S>
__global__ void copy_strided(const S* in, S* out, int n, int step) {
    const T* x = reinterpret_cast<const T*>(in);
    T* y = reinterpret_cast<T*>(out);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i * step];
}
