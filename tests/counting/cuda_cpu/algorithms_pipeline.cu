// Pipelines, warps and tensor cores, each correct, and wrong where BUG says so; findings must point at a line marked with its
// number.

#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <roofline/tensor_core.cuh>

#ifndef BUG
#define BUG 0
#endif

namespace cg = cooperative_groups;
using namespace nvcuda;

// One warp loads the next tile while three warps work on the one before.
extern "C" __global__ void producer_consumer(const float* x, float* y, int tiles) {
    __shared__ float stage[2][96];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (warp == 0) {
        for (int i = lane; i < 96; i += 32) stage[0][i] = x[i];
    }
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        if (warp == 0) {
            if (k + 1 < tiles) {
                const int to = BUG == 1 ? k & 1 : (k + 1) & 1;
                for (int i = lane; i < 96; i += 32) stage[to][i] = x[(k + 1) * 96 + i];  // BUG 1 // BUG 2
            }
        } else {
            const int i = threadIdx.x - 32;
            y[k * 96 + i] = 2.0f * stage[k & 1][95 - i];  // BUG 1 // BUG 2
        }
        if (BUG != 2 || k % 2 == 0) __syncthreads();
    }
}

// c = a b, tiles of 32 x 32 x 8, two stages of cp.async; extents are multiples of the tiles.
extern "C" __global__ void gemm_two_stages(const float* a, const float* b, float* c, int n, int k) {
    __shared__ __align__(16) float as[2][32][8], bs[2][8][32];
    const int t = threadIdx.x, row = t / 2, part = t % 2 * 4, deep = t / 8, column = t % 8 * 4;
    const float* ag = a + (blockIdx.y * 32 + row) * k + part;
    const float* bg = b + deep * n + blockIdx.x * 32 + column;
    float sum[16] = {};
    __pipeline_memcpy_async(&as[0][row][part], ag, 16);
    __pipeline_memcpy_async(&bs[0][deep][column], bg, 16);
    __pipeline_commit();
    const int steps = k / 8;
    for (int s = 0; s < steps; ++s) {
        if (s + 1 < steps) {
            __pipeline_memcpy_async(&as[(s + 1) & 1][row][part], ag + (s + 1) * 8, 16);  // BUG 2 // BUG 1
            __pipeline_memcpy_async(&bs[(s + 1) & 1][deep][column], bg + (s + 1) * 8 * n, 16);  // BUG 2 // BUG 1
        }
        if (BUG != 1 || s + 1 < steps) __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int q = 0; q < 8; ++q) {
            for (int i = 0; i < 4; ++i) {
                for (int j = 0; j < 4; ++j) {
                    sum[i * 4 + j] += as[s & 1][t / 8 * 4 + i][q] *  // BUG 1 // BUG 2
                                      bs[s & 1][q][t % 8 * 4 + j];   // BUG 1 // BUG 2
                }
            }
        }
        if (BUG != 2) __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) c[(blockIdx.y * 32 + t / 8 * 4 + i) * n + blockIdx.x * 32 + t % 8 * 4 + j] = sum[i * 4 + j];
    }
}

// Softmax of a row by a warp in one pass: maximum and sum together.
extern "C" __global__ void softmax_online(const float* x, float* y, int rows, int n) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float top = -INFINITY, sum = 0.0f;
    for (int i = lane; i < n; i += 32) {
        const float v = x[row * n + i], higher = fmaxf(top, v);
        sum = sum * __expf(top - higher) + __expf(v - higher);
        top = higher;
    }
    for (int d = 16; d > 0; d /= 2) {
        if (BUG == 1 && lane >= n) continue;
        const float other_top = __shfl_xor_sync(~0u, top, d);  // BUG 1
        const float other_sum = __shfl_xor_sync(~0u, sum, d);  // BUG 1
        const float higher = fmaxf(top, other_top);
        if (higher > -INFINITY) {
            sum = sum * __expf(top - higher) + other_sum * __expf(other_top - higher);
        }
        top = higher;
    }
    for (int i = lane; i < n; i += 32) {
        y[BUG == 2 ? row * (n + 1) + i : row * n + i] = __expf(x[row * n + i] - top) / sum;  // BUG 2
    }
}

// Index of the largest element: warps, then the first warp over their results.
extern "C" __global__ void argmax(const float* x, int* index, int n) {
    __shared__ float tops[32];
    __shared__ int places[32];
    float top = -INFINITY;
    int place = -1;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (x[i] > top) {
            top = x[i];
            place = i;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        const float other = __shfl_down_sync(~0u, top, d);
        const int there = __shfl_down_sync(~0u, place, d);
        if (other > top) {
            top = other;
            place = there;
        }
    }
    if (threadIdx.x % 32 == 0) {
        tops[threadIdx.x / 32] = top;
        places[threadIdx.x / 32] = place;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        const int warps = blockDim.x / 32;
        top = BUG == 1 || threadIdx.x < warps ? tops[threadIdx.x] : -INFINITY;  // BUG 1
        place = threadIdx.x < warps ? places[threadIdx.x] : -1;
        for (int d = 16; d > 0; d /= 2) {
            const float other = __shfl_down_sync(BUG == 2 ? 0xffffu : ~0u, top, d);  // BUG 2
            const int there = __shfl_down_sync(~0u, place, d);
            if (other > top) {
                top = other;
                place = there;
            }
        }
        if (threadIdx.x == 0) *index = place;
    }
}

// Tiles of eight lanes add up eight rows.
extern "C" __global__ void tile_rows(const float* x, float* y) {
    __shared__ float s[8][9];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int row = threadIdx.x / 8, lane = tile.thread_rank();
    s[lane][row] = x[threadIdx.x];
    if (BUG == 1) tile.sync();
    else cg::this_thread_block().sync();
    float v = s[row][lane];  // BUG 1
    for (int d = 4; d > 0; d /= 2) v += tile.shfl_xor(v, d);
    if (lane == 0) y[row] = v;
}

// Blocks cannot wait for each other here, which must be said.
extern "C" __global__ void grid_wide(float* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f;
    if (BUG == 1) cg::this_grid().sync();  // BUG 1
}

// c = a b with tensor cores: T operands, A accumulators, 16 x 16 tiles, one warp each; b is stored by columns.
template <typename T, typename A, int K>
__global__ void wmma_tiles(const T* a, const T* b, A* c, int n, int k) {
    using Format = typename std::conditional<std::is_same<T, float>::value, wmma::precision::tf32, T>::type;
    wmma::fragment<wmma::matrix_a, 16, 16, K, Format, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, K, Format, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, K, A> sum;
    wmma::fill_fragment(sum, A(0));
    for (int first = 0; first < k; first += K) {
        wmma::load_matrix_sync(left, a + blockIdx.y * 16 * k + first, k);
        wmma::load_matrix_sync(right, b + blockIdx.x * 16 * k + first, k);
        if constexpr (std::is_same<T, float>::value) {
            for (int e = 0; e < left.num_elements; ++e) left.x[e] = wmma::__float_to_tf32(left.x[e]);
            for (int e = 0; e < right.num_elements; ++e) right.x[e] = wmma::__float_to_tf32(right.x[e]);
        }
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}

// c[16, 8] = a[16, K] b[K, 8] by one mma.sync; a by rows, b by columns, both as 32-bit registers.
enum Format { F16, BF16, TF32, S8 };

template <int FORMAT, typename T>
__global__ void mma_once(const unsigned* a, const unsigned* b, T* c) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned ra[4], rb[2];
    ra[0] = a[g * 8 + t], ra[1] = a[(g + 8) * 8 + t], ra[2] = a[g * 8 + t + 4], ra[3] = a[(g + 8) * 8 + t + 4];
    rb[0] = b[g * 8 + t], rb[1] = b[g * 8 + t + 4];
    const T zero[4] = {0, 0, 0, 0};
    T d[4];
    if constexpr (FORMAT == F16) roofline::mma_m16n8k16_f16(d, ra, rb, zero);
    else if constexpr (FORMAT == BF16) roofline::mma_m16n8k16_bf16(d, ra, rb, zero);
    else if constexpr (FORMAT == TF32) roofline::mma_m16n8k8_tf32(d, ra, rb, zero);
    else roofline::mma_m16n8k32_s8(d, ra, rb, zero);
    for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
