// Planted bugs of synchronisation. `BUG` marks the lines where a finding may point.

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

namespace cg = cooperative_groups;
using namespace nvcuda;

extern "C" __global__ void no_barrier(const float* a, float* b) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[t];      // BUG
    b[t] = s[255 - t];  // BUG
}

extern "C" __global__ void no_trailing_barrier(const float* A, const float* B, float* C, int n) {
    __shared__ float a[16][16], b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k += 16) {
        a[y][x] = A[y * n + k + x];        // BUG
        b[y][x] = B[(k + y) * 16 + x];     // BUG
        __syncthreads();
        for (int j = 0; j < 16; j++) s += a[y][j] * b[j][x];  // BUG
    }
    C[y * 16 + x] = s;
}

extern "C" __global__ void tree_without_barrier(const float* a, float* b) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];  // BUG
    }
    if (t == 0) *b = s[0];
}

extern "C" __global__ void two_barriers(const float* a, float* b) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    if (t < 100)
        __syncthreads();  // BUG
    else
        __syncthreads();  // BUG
    b[t] = s[127 - t];
}

extern "C" __global__ void barrier_after_return(const float* a, float* b, int n) {
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = a[t];
    __syncthreads();  // BUG
    b[t] = s[n - 1 - t];
}

extern "C" __global__ void uneven_trips(const float* a, float* b) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float v = 0;
    for (int i = 0; i < (t < 32 ? 2 : 3); i++) {
        s[t] = a[t] + i;
        __syncthreads();  // BUG
        v += s[63 - t];
        __syncthreads();  // BUG
    }
    b[t] = v;
}

extern "C" __global__ void no_syncwarp(const float* a, float* b) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    s[t + 32] = a[t + 32];
    __syncwarp();
    for (int d = 32; d > 0; d >>= 1) s[t] += s[t + d];  // BUG
    if (t == 0) *b = s[0];
}

extern "C" __global__ void volatile_for_syncwarp(const float* a, float* b) {
    __shared__ volatile float s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    s[t + 32] = a[t + 32];
    __syncwarp();
    if (t < 16) {
        s[t] = s[t] + s[t + 16];  // BUG
        s[t] = s[t] + s[t + 8];   // BUG
    }
    if (t == 0) *b = s[0];
}

extern "C" __global__ void shuffle_in_branch(const float* a, float* b) {
    int t = threadIdx.x;
    float s = a[t];
    if (t < 16) {
        for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);  // BUG
    }
    b[t] = s;
    __syncthreads();  // BUG
}

extern "C" __global__ void shuffle_after_return(const float* a, float* b, int n) {
    int t = threadIdx.x;
    if (t >= n) return;
    float s = a[t];
    for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);  // BUG
    if (t == 0) *b = s;
}

extern "C" __global__ void caller_outside_mask(const float* a, float* b) {
    float s = a[threadIdx.x];
    s += __shfl_xor_sync(0x0000ffffu, s, 1);  // BUG
    b[threadIdx.x] = s;
}

extern "C" __global__ void source_outside_mask(const float* a, float* b) {
    int t = threadIdx.x;
    float s = a[t];
    if (t < 16) s += __shfl_down_sync(0x0000ffffu, s, 8);  // BUG
    b[t] = s;
}

extern "C" __global__ void half_a_warp(const float* a, float* b) {
    int t = threadIdx.x;
    float s = a[t];
    for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);  // BUG
    if ((t & 31) == 0) b[t >> 5] = s;
}

extern "C" __global__ void global_accumulate(const float* a, float* b) {
    if (threadIdx.x == 0) *b += a[blockIdx.x];  // BUG
}

extern "C" __global__ void overlapping_halo(const float* a, float* b) {
    int i = blockIdx.x * 31 + threadIdx.x;
    b[i] = a[i] * blockIdx.x;  // BUG
}

extern "C" __global__ void stencil_in_place(float* a, int n) {
    int i = threadIdx.x;
    if (i > 0 && i < n - 1) a[i] = 0.5f * (a[i - 1] + a[i + 1]);  // BUG
}

extern "C" __global__ void same_value(int* flag) { flag[0] = 1; }  // BUG

extern "C" __global__ void copy_without_wait(const float* a, float* b) {
    __shared__ __align__(16) float s[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[4 * t], &a[4 * t], 16);
    __pipeline_commit();
    __syncthreads();
    b[t] = s[127 - t];  // BUG
}

extern "C" __global__ void copy_without_barrier(const float* a, float* b) {
    __shared__ __align__(16) float s[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[4 * t], &a[4 * t], 16);  // BUG
    __pipeline_commit();
    __pipeline_wait_prior(0);
    b[t] = s[127 - t];  // BUG
}

extern "C" __global__ void copy_weak_wait(const float* a, float* b) {
    __shared__ __align__(16) float s[2][128];
    int t = threadIdx.x;
    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&s[i][4 * t], &a[4 * t + 128 * i], 16);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    b[t] = s[1][127 - t];  // BUG
}

extern "C" __global__ void copy_misaligned(const float* a, float* b) {
    __shared__ __align__(16) float s[129];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[4 * t], &a[4 * t + 1], 16);  // BUG
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    b[t] = s[t];
}

extern "C" __global__ void wmma_misaligned(const half* a, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> A;
    wmma::load_matrix_sync(A, a + 8, 16);  // BUG
    c[threadIdx.x] = A.x[0];
}

extern "C" __global__ void wmma_partial(const half* a, float* c) {
    if (threadIdx.x < 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> A;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> B;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> C;
        wmma::fill_fragment(C, 0.f);
        wmma::load_matrix_sync(A, a, 16);
        wmma::load_matrix_sync(B, a, 16);
        wmma::mma_sync(C, A, B, C);  // BUG
        c[threadIdx.x] = C.x[0];
    }
    __syncthreads();  // BUG
}

extern "C" __global__ void lock_never_freed(int* lock, float* b) {
    while (atomicCAS(lock, 0, 1) != 0) {  // BUG
    }
    b[0] += 1.f;
}

extern "C" __global__ void lock_without_fence(int* lock, float* b) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        b[0] += 1.f;  // BUG
        atomicExch(lock, 0);
    }
}

extern "C" __global__ void publish_without_fence(volatile int* flag, int* data) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        int v = 1;
        if (b > 0) {
            while (flag[b - 1] == 0) {
            }
            v = data[b - 1] + 1;  // BUG
        }
        data[b] = v;
        flag[b] = 1;
    }
}

extern "C" __global__ void fence_before_data(volatile int* flag, int* data) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        int v = 1;
        if (b > 0) {
            while (flag[b - 1] == 0) {
            }
            v = data[b - 1] + 1;  // BUG
        }
        __threadfence();
        data[b] = v;  // BUG
        flag[b] = 1;
    }
}

extern "C" __global__ void early_ticket(const float* a, float* part, unsigned* count, float* out) {
    __shared__ bool last;
    int t = threadIdx.x;
    part[blockIdx.x * 64 + t] = a[blockIdx.x * 64 + t];
    if (t == 0) {
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;  // other warps have not stored yet
    }
    __syncthreads();
    if (last && t == 0) {
        float s = 0;
        for (unsigned i = 0; i < gridDim.x * 64; i++) s += part[i];  // BUG
        *out = s;
    }
}

extern "C" __global__ void race_after_fence(float* b, unsigned* count) {
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        b[0] = blockIdx.x;  // BUG
    }
}

extern "C" __global__ void block_scope_across_blocks(int* count) {
    if (threadIdx.x == 0) atomicAdd_block(count, 1);  // BUG
}

extern "C" __global__ void plain_beside_atomic(int* count, int* out) {
    atomicAdd(count, 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = count[0];  // BUG
}

extern "C" __global__ void tile_sync_only(const float* a, float* b) {
    __shared__ float s[64];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x;
    s[t] = a[t];
    tile.sync();
    b[t] = s[63 - t];  // BUG
}

extern "C" __global__ void waits_for_later_block(volatile int* flag) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) {
            while (flag[0] == 0) {  // BUG
            }
        } else {
            flag[0] = 1;
        }
    }
}

extern "C" __global__ void endless_barriers(const float* a, float* b) {
    __shared__ int go;
    go = 1;  // every thread, the same value
    __syncthreads();
    while (go) {  // BUG
        __syncthreads();  // BUG
    }
    b[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void histogram_without_atomics(const int* a, int* h, int n) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[a[threadIdx.x] & 15] += 1;  // BUG
    __syncthreads();
    if (threadIdx.x < 16) h[threadIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void double_buffer_one_barrier(const float* a, float* b, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float v = 0;
    for (int i = 0; i < n; ++i) {
        s[t] = a[i * 64 + t];  // BUG
        __syncthreads();
        v += s[(t + 33) % 64];  // BUG
    }
    b[t] = v;
}

// Both the value and its flag are volatile, and nothing orders the two stores.
extern "C" __global__ void volatile_without_fence(volatile int* value, volatile int* flag, int* out) {
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        value[0] = 42;  // BUG
        flag[0] = 1;
    }
    if (threadIdx.x == 0 && blockIdx.x == 1) {
        while (flag[0] == 0) {
        }
        out[0] = value[0];  // BUG
    }
}

// One thread waits for all of its block.
extern "C" __global__ void volatile_behind_barrier(volatile int* value, volatile int* flag, int* out) {
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        value[t] = t;  // BUG
        __syncthreads();
        if (t == 0) flag[0] = 1;
    } else {
        if (t == 0) {
            while (flag[0] == 0) {
            }
        }
        __syncthreads();
        out[t] = value[63 - t];  // BUG
    }
}
