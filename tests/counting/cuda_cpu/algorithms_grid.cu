// Algorithms of many blocks, each correct, and wrong where BUG says so; findings must point at a line marked with its number.

#include <cuda_runtime.h>

#ifndef BUG
#define BUG 0
#endif

// Histogram with a private copy per block.
extern "C" __global__ void histogram_private(const int* x, unsigned* bins, int n, int count) {
    extern __shared__ unsigned local[];
    for (int b = threadIdx.x; b < count; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[BUG == 1 ? x[i] + 1 : x[i]], 1u);  // BUG 1
    }
    if (BUG != 2) __syncthreads();
    for (int b = threadIdx.x; b < count; b += blockDim.x) {
        if (local[b]) atomicAdd(&bins[b], local[b]);  // BUG 2
    }
}

// Inclusive scan in one pass: a block publishes its sum, looks back for what is before it, and publishes that.
struct Tile {
    volatile int state;  // 0: nothing, 1: sum, 2: inclusive prefix
    int sum, prefix;
};

extern "C" __global__ void scan_look_back(const int* x, int* y, int* tiles, int n) {
    __shared__ int warp_sums[4];
    __shared__ int before;
    Tile* tile = reinterpret_cast<Tile*>(tiles);
    const int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 128 + t;
    int v = i < n ? x[i] : 0;
    for (int d = 1; d < 32; d *= 2) {
        const int left = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += left;
    }
    if (lane == 31) warp_sums[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w) v += warp_sums[w];
    if (t == 127) {
        const int block = blockIdx.x;
        tile[block].sum = v;
        __threadfence();
        tile[block].state = 1;
        int sum = 0;
        for (int b = block - 1; b >= 0; --b) {
            int state;
            while ((state = tile[b].state) == 0) {
            }
            __threadfence();
            if (state == 2) {
                sum += tile[b].prefix;  // BUG 1
                break;
            }
            sum += tile[b].sum;
        }
        before = sum;
        tile[block].prefix = sum + v;  // BUG 1
        if (BUG != 1) __threadfence();
        tile[block].state = 2;
    }
    if (BUG != 2) __syncthreads();
    if (i < n) y[i] = v + before;  // BUG 2
}

// The last block to finish adds up what all blocks left.
extern "C" __global__ void mean_last_block(const float* x, float* partial, unsigned* ticket, float* mean, int n) {
    __shared__ float s[128];
    __shared__ bool last;
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128) sum += x[i];
    s[t] = sum;
    for (int d = 64; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) s[t] += s[t + d];
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];  // BUG 1
        if (BUG != 1) __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float total = 0.0f;
        for (int b = t; b < (int)gridDim.x; b += 128) total += partial[b];  // BUG 1
        s[t] = total;
        __syncthreads();
        if (t == 0) {
            float all = 0.0f;
            for (int k = 0; k < 128; ++k) all += s[k];
            *mean = all / n;
        }
    }
}

// Keep the positive numbers, in any order of warps: one atomic per warp.
extern "C" __global__ void compact_positive(const float* x, float* y, int* kept, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const bool keep = i < n && x[i] > 0.0f;
    const unsigned votes = __ballot_sync(~0u, keep);
    int base;
    if (lane == 0) base = atomicAdd(kept, __popc(votes));
    if (BUG != 1) base = __shfl_sync(~0u, base, 0);
    if (keep) y[base + __popc(votes & ((1u << lane) - 1))] = x[i];  // BUG 1
}

// A row of a sparse matrix per warp.
extern "C" __global__ void spmv_warp(const int* starts, const int* columns, const float* values, const float* x, float* y,
                                     int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (BUG != 1 && row >= rows) return;
    float sum = 0.0f;
    for (int j = starts[row] + lane; j < starts[row + 1]; j += 32) sum += values[j] * x[columns[j]];  // BUG 1
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (BUG == 2 || lane == 0) y[row] = sum;  // BUG 2
}

// Swaps tiles across the diagonal in place; the block above the diagonal does the work.
extern "C" __global__ void transpose_in_place(float* a, int n) {
    __shared__ float upper[16][17], lower[16][17];
    if (BUG != 1 && blockIdx.x < blockIdx.y) return;
    const int x = threadIdx.x, y = threadIdx.y;
    float* const up = a + (blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x;
    float* const low = a + (blockIdx.x * 16 + y) * n + blockIdx.y * 16 + x;
    upper[y][x] = *up;  // BUG 1
    lower[y][x] = *low;  // BUG 1
    __syncthreads();
    *up = lower[x][y];  // BUG 1
    if (blockIdx.x != blockIdx.y) *low = upper[x][y];  // BUG 1
}

// Keys into an open hash table; a slot is taken by compare and swap.
extern "C" __global__ void hash_insert(const int* keys, const int* values, int* table, int* stored, int n, int slots) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int slot = keys[i] * 37 % slots;
    for (;;) {
        const int old = BUG == 1 ? table[slot] : atomicCAS(&table[slot], -1, keys[i]);  // BUG 1 // BUG 2
        if (old == -1) {
            if (BUG == 1) table[slot] = keys[i];  // BUG 1
            stored[slot] = values[i];  // BUG 1
            return;
        }
        slot = BUG == 2 ? slot + 1 : (slot + 1) % slots;  // BUG 2
    }
}

// Breadth-first search, one level: neighbours not seen yet go into the next frontier.
extern "C" __global__ void bfs_level(const int* starts, const int* edges, int* level, const int* frontier, int* next, int* count,
                                     int size, int depth) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const int node = frontier[i];
    for (int e = starts[node]; e < starts[node + 1]; ++e) {
        if (atomicCAS(&level[edges[e]], -1, depth) == -1) {
            const int at = BUG == 1 ? (*count)++ : atomicAdd(count, 1);  // BUG 1
            next[at] = edges[e];  // BUG 1
        }
    }
}

// Four elements a trip, and what is left.
extern "C" __global__ void axpy_unrolled(const float* x, float* y, float a, int n) {
    const int stride = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; BUG == 1 ? i < n : i + 3 * stride < n; i += 4 * stride) {
        y[i] += a * x[i];
        y[i + stride] += a * x[i + stride];  // BUG 1
        y[i + 2 * stride] += a * x[i + 2 * stride];  // BUG 1
        y[i + 3 * stride] += a * x[i + 3 * stride];  // BUG 1
    }
    for (; i < n; i += stride) y[i] += a * x[i];
}

// Rows of bits: the next generation of each cell and of 32 at a time.
extern "C" __global__ void shift_rows(const unsigned* x, unsigned* y, const int* by, int words) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    const int s = by[i];
    const unsigned carry = i + 1 < words ? x[i + 1] : 0u;
    if (BUG == 1) {
        y[i] = x[i] << s | carry >> (32 - s);  // BUG 1
    } else {
        y[i] = __funnelshift_l(carry, x[i], s);
    }
}

__constant__ float weights[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};

extern "C" __global__ void convolve_constant(const float* x, float* y, int n, int radius) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = -radius; k <= radius; ++k) {
        const int at = BUG == 1 ? i + k : min(max(i + k, 0), n - 1);
        sum += x[at] * weights[k + (BUG == 2 ? radius + 1 : 4)];  // BUG 1 // BUG 2
    }
    y[i] = sum;
}
