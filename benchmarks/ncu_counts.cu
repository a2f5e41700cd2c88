// Kernels whose counts are compared with hardware counters, beside those of tests/counting/cuda_cpu/basics.cu.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <roofline/tensor_core.cuh>

struct Record {
    float field[8];
};

extern "C" __global__ void array_of_structures(const float* records, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = reinterpret_cast<const Record*>(records)[i].field[0];
    }
}

extern "C" __global__ void structure_of_arrays(const float* field, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = field[i];
    }
}

extern "C" __global__ void transpose_naive(const float* x, float* y, int m, int n) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        y[column * m + row] = x[row * n + column];
    }
}

extern "C" __global__ void reduce_shuffle(const float* x, float* total, int n) {
    __shared__ float warp_sums[32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    }
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = lane < static_cast<int>(blockDim.x) / 32 ? warp_sums[lane] : 0.0f;
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffffu, sum, distance);
        }
        if (lane == 0) {
            atomicAdd(total, sum);
        }
    }
}

// c[m, n] = a[m, k] b[k, n]: a block of 256 threads computes 64 x 64 elements, a thread 4 x 4 of them.
extern "C" __global__ void __launch_bounds__(256) sgemm_register(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[8][64];
    __shared__ __align__(16) float b_tile[8][64];
    const int across = threadIdx.x % 16 * 4;
    const int down = threadIdx.x / 16 * 4;
    const int first_row = blockIdx.y * 64;
    const int first_column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int first = 0; first < k; first += 8) {
        for (int e = threadIdx.x; e < 512; e += 256) {
            const int row = e / 8, depth = e % 8;
            a_tile[depth][row] = first_row + row < m && first + depth < k ? a[(first_row + row) * k + first + depth] : 0.0f;
            const int deep = e / 64, column = e % 64;
            b_tile[deep][column] = first + deep < k && first_column + column < n ? b[(first + deep) * n + first_column + column] : 0.0f;
        }
        __syncthreads();
        for (int depth = 0; depth < 8; ++depth) {
            const float4 a4 = *reinterpret_cast<const float4*>(&a_tile[depth][down]);
            const float4 b4 = *reinterpret_cast<const float4*>(&b_tile[depth][across]);
            const float left[4] = {a4.x, a4.y, a4.z, a4.w};
            const float right[4] = {b4.x, b4.y, b4.z, b4.w};
            for (int i = 0; i < 4; ++i) {
                for (int j = 0; j < 4; ++j) {
                    sum[i][j] = fmaf(left[i], right[j], sum[i][j]);
                }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            const int row = first_row + down + i, column = first_column + across + j;
            if (row < m && column < n) {
                c[row * n + column] = sum[i][j];
            }
        }
    }
}

// c[m, n] = a[m, k] b[k, n] in halves, one warp per 16 x 16 elements, two stages of cp.async; m, n, k multiples of 16.
extern "C" __global__ void hgemm_wmma(const __half* a, const __half* b, float* c, int n, int k) {
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __half a_tile[2][16][24];
    __shared__ __align__(32) __half b_tile[2][16][24];
    const int row = threadIdx.x / 2;
    const int column = threadIdx.x % 2 * 8;
    const __half* a_source = a + (blockIdx.y * 16 + row) * k + column;
    const __half* b_source = b + row * n + blockIdx.x * 16 + column;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    __pipeline_memcpy_async(&a_tile[0][row][column], a_source, 16);
    __pipeline_memcpy_async(&b_tile[0][row][column], b_source, 16);
    __pipeline_commit();
    for (int first = 0, stage = 0; first < k; first += 16, stage ^= 1) {
        if (first + 16 < k) {
            __pipeline_memcpy_async(&a_tile[stage ^ 1][row][column], a_source + first + 16, 16);
            __pipeline_memcpy_async(&b_tile[stage ^ 1][row][column], b_source + (first + 16) * n, 16);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        fragment<matrix_a, 16, 16, 16, __half, row_major> left;
        fragment<matrix_b, 16, 16, 16, __half, row_major> right;
        load_matrix_sync(left, &a_tile[stage][0][0], 24);
        load_matrix_sync(right, &b_tile[stage][0][0], 24);
        mma_sync(sum, left, right, sum);
        __syncthreads();
    }
    store_matrix_sync(&c[blockIdx.y * 16 * n + blockIdx.x * 16], sum, n, mem_row_major);
}

// One warp. Lane l loads a T from word index[l] of shared memory; a negative index keeps it out.
template <typename T>
__global__ void shared_load(const int* index, float* out) {
    __shared__ __align__(16) float words[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) {
        words[i] = i;
    }
    __syncwarp();
    const int word = index[threadIdx.x];
    if (word >= 0) {
        reinterpret_cast<T*>(out)[threadIdx.x] = *reinterpret_cast<const T*>(&words[word]);
    }
}

// The same for stores; no two lanes may name the same word.
template <typename T>
__global__ void shared_store(const int* index, const float* x, float* out) {
    __shared__ __align__(16) float words[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) {
        words[i] = i;
    }
    __syncwarp();
    const int word = index[threadIdx.x];
    if (word >= 0) {
        *reinterpret_cast<T*>(&words[word]) = reinterpret_cast<const T*>(x)[threadIdx.x];
    }
    __syncwarp();
    out[threadIdx.x] = words[threadIdx.x];
}

// Lane l copies BYTES from word from[l] of x to word to[l] of shared memory, past the registers.
template <int BYTES>
__global__ void async_copy(const float* x, const int* from, const int* to, float* out) {
    __shared__ __align__(16) float words[1024];
    const int word = to[threadIdx.x];
    if (word >= 0) {
        __pipeline_memcpy_async(&words[word], &x[from[threadIdx.x]], BYTES);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (word >= 0) {
        out[threadIdx.x] = words[word];
    }
}

// Lane l names the row of 16 bytes that starts at word index[l].
template <int MATRICES>
__global__ void matrix_load(const int* index, float* out) {
    __shared__ __align__(16) float words[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) {
        words[i] = i;
    }
    __syncwarp();
    unsigned registers[MATRICES];
    roofline::ldmatrix<MATRICES>(registers, &words[index[threadIdx.x]]);
    for (int m = 0; m < MATRICES; ++m) {
        out[m * 32 + threadIdx.x] = __uint_as_float(registers[m]);
    }
}

// Lane l adds to word index[l]; the old value is needed, or is not.
template <bool RETURNS>
__global__ void shared_atomic(const int* index, int* out) {
    __shared__ int words[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) {
        words[i] = 0;
    }
    __syncwarp();
    const int old = atomicAdd(&words[index[threadIdx.x]], static_cast<int>(threadIdx.x));
    __syncwarp();
    out[threadIdx.x] = RETURNS ? old : words[threadIdx.x];
}

template <bool RETURNS>
__global__ void global_atomic(const int* index, float* x, float* out) {
    const float old = atomicAdd(&x[index[threadIdx.x]], 1.0f);
    if (RETURNS) {
        out[threadIdx.x] = old;
    }
}
