// Tensor cores, pipelines, warps with roles and packed data, each correct, and wrong where BUG says so; findings must point at a
// line marked with its number.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <math_constants.h>
#include <roofline/named_barrier.cuh>
#include <roofline/tensor_core.cuh>

#ifndef BUG
#define BUG 0
#endif

// c = a b in halves, 64 x 64 x 32 tiles by four warps, chunks of 16 bytes swizzled by the row, two stages; b is stored by columns.
extern "C" __global__ void __launch_bounds__(128) gemm_swizzled(const __half* a, const __half* b, float* c, int n, int k) {
    __shared__ __align__(128) __half as[2][64][32];
    __shared__ __align__(128) __half bs[2][64][32];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
    auto chunk = [](int row, int column) { return (column ^ (row / 2 & 3)) * 8; };
    auto fetch = [&](int stage, int first) {
        for (int i = t; i < 256; i += 128) {
            const int row = i / 4, column = i % 4;
            const __half* left = &a[(blockIdx.y * 64 + row) * k + first + column * 8];
            const __half* right = &b[(blockIdx.x * 64 + row) * k + first + column * 8];
            __pipeline_memcpy_async(&as[stage][row][chunk(row, column)], left, 16);   // BUG 1 // BUG 2
            __pipeline_memcpy_async(&bs[stage][row][chunk(row, column)], right, 16);  // BUG 1 // BUG 2
        }
        __pipeline_commit();
    };
    float sum[2][4][4] = {};
    fetch(0, 0);
    for (int first = 0, stage = 0; first < k; first += 32, stage ^= 1) {
        if (first + 32 < k) {
            fetch(stage ^ 1, first + 32);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(BUG == 1 ? 1 : 0);
        }
        __syncthreads();
        for (int q = 0; q < 2; ++q) {
            unsigned l[2][4], r[4][2];
            for (int i = 0; i < 2; ++i) {
                const int row = wm + i * 16 + lane % 16;
                roofline::ldmatrix<4>(l[i], &as[stage][row][chunk(row, q * 2 + lane / 16)]);  // BUG 1 // BUG 2
            }
            for (int j = 0; j < 4; ++j) {
                const int row = wn + j * 8 + lane % 8;
                roofline::ldmatrix<2>(r[j], &bs[stage][row][chunk(row, q * 2 + lane / 8 % 2)]);  // BUG 1 // BUG 2
            }
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 4; ++j) roofline::mma_m16n8k16_f16(sum[i][j], l[i], r[j], sum[i][j]);
        }
        if (BUG != 2) __syncthreads();
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 4; ++j) {
            const int row = blockIdx.y * 64 + wm + i * 16 + lane / 4, column = blockIdx.x * 64 + wn + j * 8 + lane % 4 * 2;
            *reinterpret_cast<float2*>(&c[row * n + column]) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(&c[(row + 8) * n + column]) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
    }
}

// Attention of 16 queries by one warp, keys and values in blocks of 16, scores and output in tensor-core registers.
extern "C" __global__ void attention_mma(const __half* q, const __half* k, const __half* v, float* out, int keys, float scale) {
    __shared__ __align__(16) __half qs[16][24], ks[16][24], vs[16][24];
    const int lane = threadIdx.x, g = lane / 4, p = lane % 4 * 2;
    auto copy = [&](__half (*to)[24], const __half* from) {
        const float4 chunk = *reinterpret_cast<const float4*>(&from[lane / 2 * 16 + lane % 2 * 8]);  // BUG 2
        *reinterpret_cast<float4*>(&to[lane / 2][lane % 2 * 8]) = chunk;                             // BUG 1
    };
    copy(qs, q + blockIdx.x * 256);
    __syncwarp();
    unsigned left[4];
    roofline::ldmatrix<4>(left, &qs[lane % 16][lane / 16 * 8]);
    float o[2][4] = {}, top[2] = {-CUDART_INF_F, -CUDART_INF_F}, sum[2] = {};
    for (int first = 0; first < keys; first += 16) {
        copy(ks, k + first * 16);
        copy(vs, v + (BUG == 2 ? first + 16 : first) * 16);  // BUG 2
        if (BUG != 1) __syncwarp();
        float s[2][4] = {};
        for (int j = 0; j < 2; ++j) {
            unsigned r[2];
            roofline::ldmatrix<2>(r, &ks[j * 8 + lane % 8][lane / 8 % 2 * 8]);  // BUG 1
            roofline::mma_m16n8k16_f16(s[j], left, r, s[j]);
        }
        unsigned weights[4];
        for (int h = 0; h < 2; ++h) {
            float high = top[h];
            for (int j = 0; j < 2; ++j) high = fmaxf(high, scale * fmaxf(s[j][2 * h], s[j][2 * h + 1]));
            for (int d = 1; d < 4; d *= 2) high = fmaxf(high, __shfl_xor_sync(~0u, high, d));
            const float keep = __expf(top[h] - high);
            top[h] = high;
            sum[h] *= keep;
            for (int j = 0; j < 2; ++j) {
                o[j][2 * h] *= keep, o[j][2 * h + 1] *= keep;
                const float w0 = __expf(scale * s[j][2 * h] - high), w1 = __expf(scale * s[j][2 * h + 1] - high);
                sum[h] += w0 + w1;
                const __half2 pair = __floats2half2_rn(w0, w1);
                weights[2 * j + h] = *reinterpret_cast<const unsigned*>(&pair);
            }
        }
        for (int j = 0; j < 2; ++j) {
            unsigned r[2];
            roofline::ldmatrix<2, true>(r, &vs[lane % 16][j * 8]);
            roofline::mma_m16n8k16_f16(o[j], weights, r, o[j]);
        }
        __syncwarp();
    }
    for (int h = 0; h < 2; ++h) {
        for (int d = 1; d < 4; d *= 2) sum[h] += __shfl_xor_sync(~0u, sum[h], d);
        for (int j = 0; j < 2; ++j) {
            float* at = &out[(blockIdx.x * 16 + g + 8 * h) * 16 + j * 8 + p];
            at[0] = o[j][2 * h] / sum[h];
            at[1] = o[j][2 * h + 1] / sum[h];
        }
    }
}

// y = w x with weights of 4 bits, two to a byte, a scale per 32 of them; a warp per row.
extern "C" __global__ void matvec_int4(const unsigned* packed, const __half* scales, const float* x, float* y, int columns) {
    const int row = blockIdx.x, lane = threadIdx.x;
    float sum = 0.0f;
    for (int w = lane; w < columns / 8; w += 32) {
        const unsigned word = packed[row * (columns / 8) + w];
        const float scale = __half2float(scales[row * (columns / 32) + (BUG == 1 ? w : w / 4)]);  // BUG 1
        float part = 0.0f;
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const int value = static_cast<int>(word >> (BUG == 2 ? 4 * (k + 1) : 4 * k) & 15u) - 8;  // BUG 2
            part += value * x[w * 8 + k];
        }
        sum += scale * part;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

// Products of bytes four at a time, tiles of 32 x 32.
extern "C" __global__ void gemm_dp4a(const int* a, const int* b, int* c, int n, int words) {
    __shared__ int as[16][8 + 1], bs[16][8 + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    int sum = 0;
    for (int first = 0; first < words; first += 8) {
        if (x < 8) {
            as[y][x] = a[(blockIdx.y * 16 + y) * words + first + x];  // BUG 1
            bs[y][x] = b[(blockIdx.x * 16 + y) * words + first + x];  // BUG 1
        }
        __syncthreads();
        for (int k = 0; k < (BUG == 2 ? 9 : 8); ++k) sum = __dp4a(as[y][k], bs[x][k], sum);  // BUG 1 // BUG 2
        if (BUG != 1) __syncthreads();
    }
    c[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = sum;
}

// Two warps fill a ring of four slots, two warps empty it; flags in shared memory say which slots are full.
extern "C" __global__ void ring_of_flags(const float* x, float* y, int items) {
    __shared__ float slot[4][64];
    __shared__ volatile int full[4];
    const int t = threadIdx.x;
    if (t < 4) full[t] = 0;
    __syncthreads();
    if (t < 64) {
        for (int i = 0; i < items; ++i) {
            if (t % 32 == 0) {
                while (full[i % 4] >> (t / 32) & 1) {
                }
                __threadfence_block();
            }
            __syncwarp();
            slot[i % 4][t] = x[i * 64 + t];  // BUG 1 // BUG 2
            __syncwarp();
            if (t % 32 == 0) {
                if (BUG != 1) __threadfence_block();
                atomicOr(const_cast<int*>(&full[i % 4]), 1 << (t / 32));
            }
        }
    } else {
        const int u = t - 64;
        for (int i = 0; i < items; ++i) {
            if (u % 32 == 0) {
                while (!(full[i % 4] >> (u / 32) & 1)) {
                }
                __threadfence_block();
            }
            __syncwarp();
            y[i * 64 + u] = 2.0f * slot[i % 4][u];  // BUG 1 // BUG 2
            if (BUG != 2) __syncwarp();
            if (u % 32 == 0) {
                __threadfence_block();
                atomicAnd(const_cast<int*>(&full[i % 4]), ~(1 << (u / 32)));
            }
        }
    }
}

// Sorts 32 numbers in registers, then merges two warps' runs in shared memory.
extern "C" __global__ void sort_two_warps(const int* x, int* y) {
    __shared__ int runs[64];
    const int t = threadIdx.x, lane = t % 32;
    int v = x[blockIdx.x * 64 + t];
    for (int size = 2; size <= 32; size *= 2) {
        for (int d = size / 2; d > 0; d /= 2) {
            const int other = __shfl_xor_sync(BUG == 2 && lane >= 16 ? 0xffffu : ~0u, v, d);  // BUG 2
            const bool up = (lane & size) == 0 || size == 32, low = (lane & d) == 0;
            v = up == low ? min(v, other) : max(v, other);
        }
    }
    runs[t] = v;  // BUG 1
    if (BUG == 1) __syncwarp();
    else __syncthreads();
    const int* other = runs + (t < 32 ? 32 : 0);
    int rank = lane;
    for (int k = 0; k < 32; ++k) rank += t < 32 ? other[k] < v : other[k] <= v;  // BUG 1
    y[blockIdx.x * 64 + rank] = v;
}

// A tile shrinks towards the end of the row; cp.async fills what is missing with zeros.
extern "C" __global__ void sums_zero_filled(const float* x, float* y, int n, int pitch) {
    __shared__ __align__(16) float tile[2][128];
    const int lane = threadIdx.x, tiles = (n + 127) / 128;
    const float* row = x + blockIdx.x * pitch;
    auto fetch = [&](int k) {
        const int first = k * 128 + lane * 4, left = min(max(n - first, 0), 4);
        const float* from = left ? row + first : row;
        __pipeline_memcpy_async(&tile[k & 1][lane * 4], from, 16, BUG == 1 ? 0 : 16 - left * 4);  // BUG 1
        __pipeline_commit();
    };
    fetch(0);
    float sum = 0.0f;
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) fetch(k + 1);
        __pipeline_wait_prior(k + 1 < tiles ? 1 : 0);
        if (BUG != 2) __syncwarp();
        for (int i = 0; i < 4; ++i) sum += tile[k & 1][i * 32 + lane];  // BUG 2
        __syncwarp();
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) y[blockIdx.x] = sum;
}

// Warps with roles: one half fills two slots, the other empties them; a named barrier says that a slot is full (1, 2) or empty
// (3, 4) again.
extern "C" __global__ void producers_and_consumers(const float* x, float* y, int items) {
    __shared__ float slot[2][64];
    const int t = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        for (int i = 0; i < items; ++i) {
            if (BUG != 1 && i >= 2) roofline::named_barrier_sync(3 + i % 2, 128);  // BUG 3
            slot[i % 2][t] = x[i * 64 + t];  // BUG 1 // BUG 2
            if (BUG != 2) roofline::named_barrier_arrive(1 + i % 2, 128);
        }
    } else {
        for (int i = 0; i < items; ++i) {
            if (BUG != 2) roofline::named_barrier_sync(1 + i % 2, 128);  // BUG 1 // BUG 3
            y[i * 64 + t] = slot[i % 2][63 - t];  // BUG 1 // BUG 2
            if (BUG != 1 && i + 2 < items) roofline::named_barrier_arrive(BUG == 3 ? 3 : 3 + i % 2, 128);  // BUG 3
        }
    }
}
