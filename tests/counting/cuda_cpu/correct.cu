// Correct kernels that use what the planted bugs misuse: no finding may come up.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

namespace cg = cooperative_groups;
using namespace nvcuda;

extern "C" __global__ void last_block(const float* a, float* part, unsigned* count, float* out, int n) {
    __shared__ float s[256];
    __shared__ bool last;
    int t = threadIdx.x;
    float v = 0;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) v += a[i];
    s[t] = v;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t < (int)gridDim.x) s[t] = part[t];
    __syncthreads();
    if (last && t == 0) {
        float r = 0;
        for (unsigned i = 0; i < gridDim.x; i++) r += s[i];
        *out = r;
    }
}

// Every thread fences its own store before the barrier; one thread then takes the ticket for all.
extern "C" __global__ void fence_by_all(const float* a, float* part, unsigned* count, float* out) {
    __shared__ bool last;
    int t = threadIdx.x;
    part[blockIdx.x * 64 + t] = a[blockIdx.x * 64 + t];
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last && t == 0) {
        float s = 0;
        for (unsigned i = 0; i < gridDim.x * 64; i++) s += part[i];
        *out = s;
    }
}

extern "C" __global__ void look_back(volatile int* flag, int* data) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        int v = 1;
        if (b > 0) {
            while (flag[b - 1] == 0) {
            }
            v = data[b - 1] + 1;
        }
        data[b] = v;
        __threadfence();
        flag[b] = 1;
    }
}

// A producer warp hands a value to a consumer warp of the same block through a flag in shared memory.
extern "C" __global__ void hand_over(const float* a, float* b) {
    __shared__ volatile int ready;
    __shared__ float value;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        value = a[0] * 2;
        __threadfence_block();
        ready = 1;
    }
    if (threadIdx.x == 0) {
        while (ready == 0) {
        }
        b[0] = value;
    }
}

extern "C" __global__ void spin_lock(int* lock, float* b) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        b[0] += 1.f;
        __threadfence();
        atomicExch(lock, 0);
    }
}

extern "C" __global__ void syncwarp_parts(const float* a, float* b) {
    __shared__ float s[64];
    int t = threadIdx.x;
    unsigned mask = 0xffffu << (t & 16);
    s[t] = a[t];
    __syncwarp(mask);
    for (int d = 8; d > 0; d >>= 1) {
        float v = (t & 15) < d ? s[t + d] : 0.f;
        __syncwarp(mask);
        if ((t & 15) < d) s[t] += v;
        __syncwarp(mask);
    }
    if ((t & 15) == 0) b[t / 16] = s[t];
}

extern "C" __global__ void half_neighbours(const float* a, __half* b) {
    __shared__ __half s[64];
    int t = threadIdx.x;
    s[t] = __float2half(a[t]);
    __syncthreads();
    b[t] = s[63 - t];
}

extern "C" __global__ void bytes_of_a_word(const unsigned char* a, unsigned char* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[n - 1 - i];
}

extern "C" __global__ void tiles(const float* a, float* b) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    float v = a[block.thread_rank()];
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    if (tile.thread_rank() == 0) b[block.thread_rank() / 16] = v;
    float sum = cg::reduce(tile, a[block.thread_rank()], cg::plus<float>());
    if (tile.thread_rank() == 1) b[4 + block.thread_rank() / 16] = sum;
}

extern "C" __global__ void aggregated(const int* a, int* count) {
    if (a[threadIdx.x] > 0) {
        auto active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(count, (int)active.size());
    }
}

extern "C" __global__ void collectives(const int* a, int* out) {
    int t = threadIdx.x, v = a[t];
    out[0 * 32 + t] = __shfl_up_sync(~0u, v, 1);
    out[1 * 32 + t] = __shfl_xor_sync(~0u, v, 5);
    out[2 * 32 + t] = (int)__ballot_sync(~0u, v & 1);
    out[3 * 32 + t] = __any_sync(~0u, v > 100) + 2 * __all_sync(~0u, v >= 0);
    out[4 * 32 + t] = __reduce_add_sync(~0u, v);
    out[5 * 32 + t] = __reduce_max_sync(~0u, v) - __reduce_min_sync(~0u, v);
    out[6 * 32 + t] = (int)__match_any_sync(~0u, v & 3);
    out[7 * 32 + t] = __shfl_sync(~0u, v, 3, 8);
}

extern "C" __global__ void staged_copy(const float* a, float* b, int tiles) {
    __shared__ __align__(16) float s[2][128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][4 * t], &a[4 * t], 16);
    __pipeline_commit();
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles) __pipeline_memcpy_async(&s[(i + 1) & 1][4 * t], &a[128 * (i + 1) + 4 * t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = t; k < 128; k += 32) b[128 * i + k] = s[i & 1][127 - k];
        __syncthreads();
    }
}

template <int M, int N, int K>
__global__ void wmma_shape(const half* a, const half* b, float* c) {
    wmma::fragment<wmma::matrix_a, M, N, K, half, wmma::row_major> A;
    wmma::fragment<wmma::matrix_b, M, N, K, half, wmma::col_major> B;
    wmma::fragment<wmma::accumulator, M, N, K, float> C;
    wmma::fill_fragment(C, 0.f);
    wmma::load_matrix_sync(A, a, K);
    wmma::load_matrix_sync(B, b, K);
    wmma::mma_sync(C, A, B, C);
    wmma::store_matrix_sync(c, C, N, wmma::mem_row_major);
}

template <typename T>
__global__ void fused(const float* x, const float* y, const float* z, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = (float)__hfma((T)x[i], (T)y[i], (T)z[i]);
        out[n + i] = (float)((T)x[i] + (T)y[i]);
        out[2 * n + i] = (float)((T)x[i] * (T)y[i]);
    }
}

extern "C" __global__ void integers(const unsigned* a, unsigned* out) {
    unsigned v = a[0], w = a[1];
    out[0] = __popc(v);
    out[1] = __clz((int)v);
    out[2] = __brev(v);
    out[3] = __umulhi(v, w);
    out[4] = __funnelshift_l(v, w, 7);
    out[5] = __byte_perm(v, w, 0x6521);
    out[6] = (unsigned)__ffs((int)v);
    out[7] = (unsigned)__popcll(((unsigned long long)v << 32) | w);
    out[8] = (unsigned)__dp4a((int)v, (int)w, 3);
    out[9] = (unsigned)__float2int_rn(2.5f) + (unsigned)__float2int_rz(-1e20f);
}

struct Pair {
    float value;
    int index;
};

extern "C" __global__ void pairs(const Pair* a, Pair* b, int n) {
    int i = threadIdx.x;
    if (i < n) b[i] = a[n - 1 - i];
}

// Values and a flag, all volatile, with the fences that order them.
extern "C" __global__ void volatile_with_fences(volatile int* value, volatile int* flag, int* out) {
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        value[t] = t;
        __threadfence();
        __syncthreads();
        if (t == 0) flag[0] = 1;
    } else {
        if (t == 0) {
            while (flag[0] == 0) {
            }
            __threadfence();
        }
        __syncthreads();
        out[t] = value[63 - t];
    }
}

__device__ float sums[8];
__device__ unsigned arrived;

// As last_block, through variables of the module.
extern "C" __global__ void last_block_of_module(const float* a, float* out) {
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = a[blockIdx.x];
        __threadfence();
        if (atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1) {
            __threadfence();
            float sum = 0;
            for (unsigned i = 0; i < gridDim.x; ++i) sum += sums[i];
            *out = sum;
        }
    }
}

struct __align__(16) Quad {
    float a, b, c, d;
};

extern "C" __global__ void reverse_structs(const float* x, float* y) {
    const Quad v = reinterpret_cast<const Quad*>(x)[threadIdx.x];
    const Quad w = {v.d, v.c, v.b, v.a};
    reinterpret_cast<Quad*>(y)[threadIdx.x] = w;
}

extern "C" __global__ void packed(const unsigned* a, unsigned* out) {
    const unsigned v = a[0], w = a[1];
    out[0] = __vadd4(v, w);
    out[1] = __vsubus4(v, w);
    out[2] = __vmaxs2(v, w);
    out[3] = __vabsdiffu4(v, w);
    out[4] = __vcmpgtu2(v, w);
    out[5] = __vavgu4(v, w);
    out[6] = __vaddss4(v, w);
    out[7] = __vsadu4(v, w);
    out[8] = static_cast<unsigned>(__dp2a_lo(static_cast<int>(v), static_cast<int>(w), 7));
}

extern "C" __global__ void half_functions(const __half* x, __half* y) {
    const int t = threadIdx.x;
    const __half2 v = reinterpret_cast<const __half2*>(x)[t];
    __half2* out = reinterpret_cast<__half2*>(y);
    out[t] = __habs2(v);
    out[32 + t] = h2floor(v);
    out[64 + t] = __hgt2(v, __hneg2(v));
    out[96 + t] = __hbgt2(v, __lowhigh2highlow(v)) ? v : -v;
    out[128 + t] = __halves2half2(__hadd_sat(v.x, v.y), __hfma_relu(v.x, v.y, v.x));
    out[160 + t] = isnan(__low2float(v)) || signbit(__high2float(v)) ? __float2half2_rn(1.0f) : h2sqrt(__habs2(v));
}
