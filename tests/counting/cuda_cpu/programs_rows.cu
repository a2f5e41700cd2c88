// Reductions, scans and row-wise programs, each correct, and wrong where BUG says so; findings must point at a line marked with
// its number.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math_constants.h>

#ifndef BUG
#define BUG 0
#endif

template <typename T>
__device__ T warp_sum(T v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

// Sum of a block in every thread; `scratch` has 32 elements and may be used again at once.
template <typename T>
__device__ T block_sum(T v, T* scratch) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    v = warp_sum(v);
    if (lane == 0) scratch[warp] = v;  // BUG 1
    __syncthreads();
    v = lane < warps ? scratch[lane] : T(0);  // BUG 1
    v = warp_sum(v);
#if BUG != 1
    __syncthreads();
#endif
    return v;
}

// Two sums through one scratch array, loads of 16 bytes with a scalar tail.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) sum_and_squares(const float* __restrict__ x, float* out, int n) {
    __shared__ float scratch[32];
    float sum = 0.0f, squares = 0.0f;
    const int quads = n / 4;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < quads; i += gridDim.x * THREADS) {
        const float4 v = reinterpret_cast<const float4*>(x)[i];
        sum += v.x + v.y + v.z + v.w;
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    const int tail = quads * 4 + threadIdx.x;
    if (blockIdx.x == 0 && (BUG == 2 || tail < n)) {
        sum += x[tail];  // BUG 2
        squares += x[tail] * x[tail];
    }
    sum = block_sum(sum, scratch);
    squares = block_sum(squares, scratch);
    if (threadIdx.x == 0) {
        atomicAdd(&out[0], sum);
        atomicAdd(&out[1], squares);
    }
}

// Softmax of a row of halves by a block; the row stays in shared memory.
extern "C" __global__ void softmax_row(const __half* x, __half* y, int n) {
    extern __shared__ float row[];
    __shared__ float scratch[32];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32;
    const __half* in = x + (size_t)blockIdx.x * n;
    float top = -CUDART_INF_F;
    for (int i = t; BUG == 2 ? i <= n : i < n; i += blockDim.x) {
        row[i] = __half2float(in[i]);  // BUG 2
        top = fmaxf(top, row[i]);
    }
    for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
    if (lane == 0) scratch[warp] = top;
    __syncthreads();
    top = scratch[0];  // BUG 1
    for (int w = 1; w < warps; ++w) top = fmaxf(top, scratch[w]);  // BUG 1
    if (BUG != 1) __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < n; i += blockDim.x) {
        row[i] = __expf(row[i] - top);
        sum += row[i];
    }
    sum = warp_sum(sum);
    if (lane == 0) scratch[warp] = sum;  // BUG 1
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < warps; ++w) sum += scratch[w];
    for (int i = t; i < n; i += blockDim.x) y[(size_t)blockIdx.x * n + i] = __float2half(row[i] / sum);
}

struct Welford {
    float mean, m2, count;
};

__device__ Welford combine(Welford a, Welford b) {
    const float count = a.count + b.count, delta = b.mean - a.mean;
    if (count == 0.0f) return a;
    return {a.mean + delta * b.count / count, a.m2 + b.m2 + delta * delta * a.count * b.count / count, count};
}

// Layer norm by a warp per row, pairs of bfloat16, mean and variance in one pass.
extern "C" __global__ void layernorm_welford(const __nv_bfloat16* x, const float* gain, const float* bias, __nv_bfloat16* y,
                                             int rows, int n, float eps) {
    const int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    const __nv_bfloat162* in = reinterpret_cast<const __nv_bfloat162*>(x + row * n);  // n is even
    Welford w = {0.0f, 0.0f, 0.0f};
    for (int i = lane; i < n / 2; i += 32) {
        const __nv_bfloat162 v = in[i];
        w = combine(w, {__bfloat162float(v.x), 0.0f, 1.0f});
        w = combine(w, {__bfloat162float(v.y), 0.0f, 1.0f});
    }
    for (int d = 16; d > 0; d /= 2) {
        Welford other;
        other.mean = __shfl_xor_sync(~0u, w.mean, d);
        other.m2 = __shfl_xor_sync(~0u, w.m2, d);
        if (BUG != 1) other.count = __shfl_xor_sync(~0u, w.count, d);
        w = combine(w, other);
    }
    const float scale = rsqrtf(w.m2 / n + eps);
    for (int i = lane; i < (BUG == 2 ? n / 2 + 1 : n / 2); i += 32) {
        const __nv_bfloat162 v = in[i];  // BUG 2
        const float a = (__bfloat162float(v.x) - w.mean) * scale * gain[2 * i] + bias[2 * i];  // BUG 2
        const float b = (__bfloat162float(v.y) - w.mean) * scale * gain[2 * i + 1] + bias[2 * i + 1];  // BUG 2
        reinterpret_cast<__nv_bfloat162*>(y + row * n)[i] = __floats2bfloat162_rn(a, b);  // BUG 1 // BUG 2
    }
}

// Log-sum-exp minus the target's logit; targets are 64-bit and -100 means none.
extern "C" __global__ void cross_entropy(const float* logits, const long long* target, float* loss, int classes) {
    __shared__ float scratch[32];
    const float* row = logits + (long long)blockIdx.x * classes;
    float top = -CUDART_INF_F;
    for (int c = threadIdx.x; c < classes; c += blockDim.x) top = fmaxf(top, row[c]);
    for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = top;
    if (BUG != 2) __syncthreads();
    top = scratch[threadIdx.x % (blockDim.x / 32)];  // BUG 2
    for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
    __syncthreads();
    float sum = 0.0f;
    for (int c = threadIdx.x; c < classes; c += blockDim.x) sum += expf(row[c] - top);
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int w = 0; w < (int)blockDim.x / 32; ++w) total += scratch[w];
        const long long wanted = target[blockIdx.x];
        loss[blockIdx.x] = BUG != 1 && wanted < 0 ? 0.0f : logf(total) + top - row[wanted];  // BUG 1
    }
}

// Inclusive scan of 1024 elements: warps, then the warps' totals by the first warp.
extern "C" __global__ void scan_warps(const unsigned* x, unsigned* y, int n) {
    __shared__ unsigned totals[32];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    unsigned v = t < n ? x[t] : 0u;
    for (int d = 1; d < 32; d <<= 1) {
        const unsigned left = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += left;
    }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    if (warp == 0) {
        unsigned total = BUG == 2 ? totals[lane + 1] : totals[lane];  // BUG 2
        for (int d = 1; d < 32; d <<= 1) {
            const unsigned left = __shfl_up_sync(~0u, total, d);
            if (lane >= d) total += left;
        }
        totals[lane] = total;  // BUG 1
    }
    if (BUG != 1) __syncthreads();
    if (warp > 0) v += totals[warp - 1];  // BUG 1
    if (t < n) y[t] = v;
}

// Sums of columns: a block goes down 32 columns with 8 rows of threads.
extern "C" __global__ void column_sums(const float* x, float* y, int rows, int columns) {
    __shared__ float part[8][32];
    const int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (BUG == 1 || column < columns) {
        for (int row = threadIdx.y; row < rows; row += 8) sum += x[row * columns + column];  // BUG 1
    }
    part[threadIdx.y][threadIdx.x] = sum;
    for (int half = 4; half > 0; half /= 2) {
        if (BUG != 2 || half == 4) __syncthreads();
        if (threadIdx.y < half) part[threadIdx.y][threadIdx.x] += part[threadIdx.y + half][threadIdx.x];  // BUG 2
    }
    if (threadIdx.y == 0 && column < columns) y[column] = part[0][threadIdx.x];
}

// Dot product in double; the last block adds the others' parts.
extern "C" __global__ void dot_last_block(const double* x, const double* y, double* parts, unsigned* done, double* out, int n) {
    __shared__ double scratch[32];
    __shared__ unsigned position;
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
    const int lane = threadIdx.x % 32;
    sum = warp_sum(sum);
    if (lane == 0) scratch[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0.0;
        for (int w = 0; w < (int)blockDim.x / 32; ++w) sum += scratch[w];
        if (BUG == 1) {
            position = atomicAdd(done, 1u);
            parts[blockIdx.x] = sum;  // BUG 1
            __threadfence();
        } else {
            parts[blockIdx.x] = sum;  // BUG 2
            if (BUG != 2) __threadfence();
            position = atomicAdd(done, 1u);
        }
    }
    __syncthreads();
    if (position == gridDim.x - 1 && threadIdx.x < 32) {
        sum = 0.0;
        for (int b = lane; b < (int)gridDim.x; b += 32) sum += parts[b];  // BUG 1 // BUG 2
        sum = warp_sum(sum);
        if (lane == 0) *out = sum;
    }
}

// Largest element of each segment, index in 64 bits, segments of very different lengths.
extern "C" __global__ void segment_max(const float* x, const long long* offsets, float* top, long long* index, int segments) {
    const int segment = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    const unsigned mask = 0xffu << (threadIdx.x % 32 / 8 * 8);
    if (segment >= segments) return;
    float best = -CUDART_INF_F;
    long long place = -1;
    const long long end = offsets[BUG == 1 ? segment + 2 : segment + 1];  // BUG 1
    for (long long i = offsets[segment] + lane; i < end; i += 8) {
        if (x[i] > best) best = x[i], place = i;
    }
    for (int d = 4; d > 0; d /= 2) {
        const float other = __shfl_down_sync(BUG == 2 ? 0xffu : mask, best, d, 8);  // BUG 2
        const long long there = __shfl_down_sync(mask, place, d, 8);
        if (other > best) best = other, place = there;
    }
    if (lane == 0) top[segment] = best, index[segment] = place;
}

// Rotary embedding of pairs in place: element i of a head with i + half.
extern "C" __global__ void rotate_pairs(__half* x, const float* angles, int heads, int width) {
    const int token = blockIdx.x, half = width / 2;
    for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
        const int head = i / half, k = i % half;
        __half* at = x + (token * heads + head) * width + k;
        const float s = sinf(angles[token * half + k]), c = cosf(angles[token * half + k]);
        const float a = __half2float(at[0]), b = __half2float(at[BUG == 1 ? 1 : half]);  // BUG 1
        at[0] = __float2half(a * c - b * s);  // BUG 1
        at[BUG == 2 ? width : half] = __float2half(b * c + a * s);  // BUG 1 // BUG 2
    }
}
