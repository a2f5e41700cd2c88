// Stages, tiles and groups: rings of cp.async, warps with roles, tiles of lanes, elections.
//
// -DBUG=n plants a bug in a kernel; the lines where a finding may point are marked // BUG n.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline_primitives.h>
#include <roofline/named_barrier.cuh>

#ifndef BUG
#define BUG 0
#endif
namespace cg = cooperative_groups;

// Two groups of two warps, each with a ring of three cp.async stages and a named barrier of its own.
__global__ void two_rings(const float4* x, float4* y, int steps) {
    __shared__ __align__(16) float4 ring[2][3][64];
    const int g = threadIdx.x / 64, t = threadIdx.x % 64;
    const float4* mine = x + g * steps * 64;
    for (int s = 0; s < 2; ++s) {
        if (s < steps) __pipeline_memcpy_async(&ring[g][s][t], mine + s * 64 + t, 16);
        __pipeline_commit();
    }
    float4 sum = make_float4(0, 0, 0, 0);
    for (int s = 0; s < steps; ++s) {
        __pipeline_wait_prior(BUG == 1 ? 2 : 1);
        if (BUG == 2) __syncwarp();
        else roofline::named_barrier_sync(1 + g, 64);
        const int ahead = s + 2;
        const int into = BUG == 3 ? (s + 1) % 3 : ahead % 3;
        if (ahead < steps) __pipeline_memcpy_async(&ring[g][into][t], mine + ahead * 64 + t, 16);  // BUG 3
        __pipeline_commit();
        const float4 v = ring[g][s % 3][63 - t];  // BUG 1  // BUG 2  // BUG 3
        sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
    }
    y[threadIdx.x] = sum;
}

// Warp-specialised: warp 0 loads by cp.async, warps 1 and 2 compute, warp 3 stores; four named barriers.
__global__ void __launch_bounds__(128) three_roles(const float4* x, float4* y, int tiles) {
    __shared__ __align__(16) float4 in[2][32], out[2][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    enum { FULL = 1, EMPTY = 3, READY = 5, STORED = 7 };
    for (int k = 0; k < tiles; ++k) {
        const int s = k % 2;
        if (warp == 0) {
            if (k >= 2) roofline::named_barrier_sync(EMPTY + s, 96);  // BUG 1
            __pipeline_memcpy_async(&in[s][lane], x + k * 32 + lane, 16);  // BUG 1
            __pipeline_commit();
            if (BUG != 2) __pipeline_wait_prior(0);
            roofline::named_barrier_arrive(FULL + s, 96);
        } else if (warp < 3) {
            roofline::named_barrier_sync(FULL + s, 96);
            float4 v = in[s][warp == 1 ? lane : 31 - lane];  // BUG 1  // BUG 2
            if (BUG == 1 ? k + 3 < tiles : k + 2 < tiles) roofline::named_barrier_arrive(EMPTY + s, 96);  // BUG 1
            if (k >= 2) roofline::named_barrier_sync(STORED + s, 96);  // BUG 1
            float* to = reinterpret_cast<float*>(&out[s][lane]) + (warp - 1) * 2;
            to[0] = v.x + v.y;  // BUG 3
            to[1] = v.z * v.w;
            if (BUG == 3 && k == 1) continue;  // BUG 3
            roofline::named_barrier_arrive(READY + s, 96);
        } else {
            roofline::named_barrier_sync(READY + s, 96);  // BUG 3
            y[k * 32 + lane] = out[s][lane];  // BUG 3
            if (k + 2 < tiles) roofline::named_barrier_arrive(STORED + s, 96);
        }
    }
}

// Matrix product with register tiles, 128-bit loads, ragged edges and int64 offsets; a template over the tile.
template <class T, int TM, int TN, int TK>
__global__ void gemm_tiles(const T* A, const T* B, T* C, int M, int N, int K, long long sA, long long sC) {
    __shared__ T a[TK][TM + 4], b[TK][TN];
    A += blockIdx.z * sA;
    C += blockIdx.z * sC;
    const int tx = threadIdx.x % (TN / 4), ty = threadIdx.x / (TN / 4), m0 = blockIdx.y * TM, n0 = blockIdx.x * TN;
    T acc[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += TK) {
        for (int e = threadIdx.x; e < TM * TK; e += blockDim.x) {
            const int m = e / TK, k = e % TK;
            a[k][m] = m0 + m < M && (BUG == 1 || k0 + k < K) ? A[(long long)(m0 + m) * K + k0 + k] : T(0);  // BUG 1
        }
        for (int e = threadIdx.x; e < TN * TK; e += blockDim.x) {
            const int k = e / TN, n = e % TN;
            b[k][n] = n0 + n < N && k0 + k < K ? B[(long long)(k0 + k) * N + n0 + n] : T(0);  // BUG 2
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TK; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) acc[i][j] += a[k][ty * 4 + i] * b[k][tx * 4 + j];  // BUG 2
        if (BUG != 2) __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int m = m0 + ty * 4 + i, n = n0 + tx * 4 + j;
            if (m < M && (BUG == 3 ? n <= N : n < N)) C[(long long)m * N + n] = acc[i][j];  // BUG 3
        }
}

// Rows of 16 lanes: a scan by shfl_up of the tile, staged through shared memory of the tile.
__global__ void tile_scan(const int* x, int* y, int rows) {
    __shared__ int stage[8][16];
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<16>(block);
    const int row = blockIdx.x * 8 + tile.meta_group_rank(), r = tile.thread_rank();
    if (row >= rows) return;
    int v = x[row * 16 + r];
    for (unsigned d = 1; d < 16; d *= 2) {
        const int o = tile.shfl_up(v, d); 
        if (r >= (int)d) v += o;
    }
    stage[tile.meta_group_rank()][r] = v;  // BUG 1
    if (BUG == 2) block.sync();  // BUG 2
    else if (BUG != 1) tile.sync(); 
    y[row * 16 + r] = stage[tile.meta_group_rank()][15 - r];  // BUG 1
}

// Aggregates by key within a warp: match_any, reduce_add, one atomic per key.
__global__ void by_key(const int* keys, const int* values, int* totals, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned live = __ballot_sync(~0u, i < n);
    if (i >= n) return;
    const unsigned same = __match_any_sync(live, keys[i]); 
    const int total = __reduce_add_sync(BUG == 1 ? live & ~1u : same, values[i]);  // BUG 1
    if ((int)(threadIdx.x % 32) == __ffs(same) - 1) {
        if (BUG == 2) totals[keys[i]] += total;  // BUG 2
        else atomicAdd(totals + keys[i], total);
    }
}

// Nested divergence with activemask and leader election; counts by class.
__global__ void elections(const int* x, int* counts, int* order, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int v = x[i];
        if (v & 1) {
            if (v & 2) {
                const unsigned active = __activemask();
                const int leader = __ffs(active) - 1;
                int base = 0;
                if ((int)(threadIdx.x & 31) == leader) base = BUG == 1 ? (counts[0] += __popc(active)) : atomicAdd(counts, __popc(active));  // BUG 1
                base = __shfl_sync(active, base, leader); 
                order[base + __popc(active & ((1u << (threadIdx.x & 31)) - 1))] = i;  // BUG 1
            } else {
                atomicAdd(counts + 1, 1);
            }
        } else {
            atomicAdd(counts + 2 + (BUG == 2 ? v : v / 2 % 2), 1);  // BUG 2
        }
    }
}

// A block of warps keeps what is positive, in order: ballot within a warp, sums of warps in shared memory, one atomic a block.
__global__ void keep_positive(const float* x, float* out, int* count, int n) {
    __shared__ int sums[32], base;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool keep = i < n && x[i] > 0;
    const unsigned votes = __ballot_sync(~0u, keep);
    if (lane == 0) sums[warp] = __popc(votes);
    __syncthreads();
    if (warp == 0) {
        const int warps = blockDim.x / 32;
        int v = lane < (BUG == 1 ? 32 : warps) ? sums[lane] : 0, s = v;  // BUG 1
        for (int d = 1; d < 32; d *= 2) { const int o = __shfl_up_sync(~0u, s, d); if (lane >= d) s += o; }
        if (lane < warps) sums[lane] = s - v;
        if (lane == 31) base = atomicAdd(count, s);  // BUG 2
    }
    if (BUG != 2) __syncthreads();
    if (keep) out[base + sums[warp] + __popc(votes & ((1u << lane) - 1))] = x[i];  // BUG 2
}

// Partial sums; the last block adds them up with loads that go past L1, and resets the counter.
__global__ void sum_and_reset(const float* x, float* parts, float* total, unsigned* count, int n) {
    __shared__ float s[128];
    __shared__ bool last;
    const int t = threadIdx.x;
    float v = 0;
    for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128) v += x[i];
    s[t] = v;
    for (int d = 64; d >= 1; d /= 2) {
        if (d >= 32) __syncthreads();
        else __syncwarp();
        if (t < d) s[t] += s[t + d]; 
    }
    if (t == 0) {
        parts[blockIdx.x] = s[0];  // BUG 1
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
        if (last) { *count = 0; }
    }
    __syncthreads();
    if (last && t < 32) {
        float sum = 0;
        for (int b = t; b < (BUG == 1 ? gridDim.x + 1 : gridDim.x); b += 32) sum += __ldcg(parts + b);  // BUG 1
        const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
        sum = cg::reduce(warp, sum, cg::plus<float>());
        if (t == 0) *total = sum;
    }
}
