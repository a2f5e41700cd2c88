// Threads and blocks that hand data to each other by flags, counters, queues and lists.
//
// -DBUG=n plants a bug in a kernel; the lines where a finding may point are marked // BUG n.


#ifndef BUG
#define BUG 0
#endif

// A wavefront over rows of tiles: block b does row b of tiles and hands each tile on to row b+1 by a counter per row.
// d[i][j] = w[i][j] + min(d[i-1][j], d[i][j-1])
__global__ void wavefront(const int* w, int* d, volatile int* done, int rows, int cols) {
    __shared__ int line[64];
    const int r = blockIdx.x, t = threadIdx.x;
    int carry = r == 0 ? 0 : 1 << 20;  // d[r][-1]
    for (int c0 = 0; c0 < cols; c0 += blockDim.x) {
        if (r > 0) {
            if (t == 0) {
                while (done[r - 1] < c0 + (int)blockDim.x) {}
                __threadfence();
            }
            if (BUG != 1) __syncthreads();
        }
        const int up = r > 0 ? d[(r - 1) * cols + c0 + t] : (c0 + t == 0 ? 0 : 1 << 20);  // BUG 1  // BUG 2
        line[t] = up;  // BUG 3
        __syncthreads();
        if (t == 0) {
            int left = c0 == 0 ? 1 << 20 : carry;
            for (int k = 0; k < (int)blockDim.x; ++k) {
                left = w[r * cols + c0 + k] + min(line[k], left);  // BUG 3
                d[r * cols + c0 + k] = left;  // BUG 1  // BUG 2
            }
            carry = left;
            if (BUG != 2) __threadfence();
            done[r] = c0 + blockDim.x;  // BUG 2
        }
        if (BUG != 3) __syncthreads();
    }
}

// Persistent blocks take chunks from a counter; the chunk is told through shared memory.
__global__ void work_queue(const float* x, float* y, unsigned* next, int chunks, int n) {
    __shared__ unsigned chunk;
    for (;;) {
        if (threadIdx.x == 0) chunk = atomicAdd(next, 1u);  // BUG 1
        __syncthreads();
        const unsigned c = chunk;  // BUG 1
        if (BUG != 1) __syncthreads();
        if (c >= chunks) break;
        const int i = c * blockDim.x + threadIdx.x;
        if (BUG == 2 || i < n) y[i] = 2.f * x[i];  // BUG 2
    }
}

// A tree of work: nodes are pushed to a global stack with a ready flag each, and consumed by any block.
__global__ void task_stack(int* value, int* ready, int* tail, int* head, int* sum, int total) {
    if (threadIdx.x) return;
    for (;;) {
        const int slot = atomicAdd(head, 1);
        if (slot >= total) return;
        while (atomicAdd(ready + slot, 0) == 0) {}
        __threadfence();
        const int v = value[slot];  // BUG 1  // BUG 2
        atomicAdd(sum, v);
        if (v < 8) {
            const int first = atomicAdd(tail, 2);
            for (int k = 0; k < 2; ++k) {
                if (BUG == 2) atomicExch(ready + first + k, 1);  // BUG 2
                value[first + k] = 2 * v + k;  // BUG 1  // BUG 2
                if (BUG != 1) __threadfence();
                if (BUG != 2) atomicExch(ready + first + k, 1);  // BUG 1
            }
        }
    }
}

// A producer warp and three consumers; slots are handed over by counters in shared memory.
__global__ void slot_ring(const int* x, int* y, int items) {
    __shared__ int slot[4][32];
    __shared__ int filled[4], emptied[4];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < 4) filled[threadIdx.x] = emptied[threadIdx.x] = 0;
    __syncthreads();
    if (warp == 0) {
        for (int k = 0; k < items; ++k) {
            const int s = k % 4;
            if (lane == 0) while (atomicAdd(&emptied[s], 0) < k / 4) {}
            __syncwarp();
            slot[s][lane] = x[k * 32 + lane];  // BUG 1  // BUG 2  // BUG 3
            if (BUG != 1) __threadfence_block();
            __syncwarp();
            if (lane == 0) atomicAdd(&filled[s], 1);  // BUG 1
        }
    } else {
        int sum = 0;
        for (int k = warp - 1; k < items; k += 3) {
            const int s = k % 4;
            if (lane == 0) while (atomicAdd(&filled[s], 0) <= k / 4) {}
            if (BUG != 2) __syncwarp();
            sum += slot[s][31 - lane];  // BUG 1  // BUG 2  // BUG 3
            if (BUG != 3) {
                __threadfence_block();
                __syncwarp();
            }
            if (lane == 0) atomicAdd(&emptied[s], 1);  // BUG 3
        }
        y[threadIdx.x - 32] = sum;
    }
}

// Decoupled look-back over 64-bit words: two bits of status, 62 of value; a warp looks back 32 tiles at once with a window.
typedef unsigned long long u64;
__device__ u64 pack(u64 status, u64 value) { return status << 62 | value; }
__global__ void scan64(const int* x, long long* y, volatile u64* state, int* ticket, int n) {
    __shared__ int tile_id;
    __shared__ long long warp_sum[4], exclusive;
    if (threadIdx.x == 0) tile_id = atomicAdd(ticket, 1);
    __syncthreads();
    const int tile = tile_id, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int i = tile * blockDim.x + threadIdx.x;
    long long v = i < n ? x[i] : 0;
    for (int d = 1; d < 32; d <<= 1) { const long long o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }
    if (lane == 31) warp_sum[warp] = v;
    __syncthreads();
    long long total = 0;
    for (int w = 0; w < (int)blockDim.x / 32; ++w) { if (w < warp) v += warp_sum[w]; total += warp_sum[w]; }
    if (warp == 0) {
        if (lane == 0) state[tile] = pack(tile ? 1 : 2, total);
        long long before = 0;
        for (int top = tile - 1; top >= 0; top -= 32) {
            const int mine = top - lane;
            u64 word = pack(2, 0);
            if (mine >= 0) while ((word = state[mine]) >> 62 == 0) {}
            const unsigned done = __ballot_sync(~0u, word >> 62 == 2);
            const int last = done ? __ffs(done) - 1 : 31;
            long long part = lane <= last ? (long long)(word & ~(3ull << 62)) : 0;
            for (int d = 16; d; d >>= 1) part += __shfl_xor_sync(BUG == 1 ? 0xffffu : ~0u, part, d);  // BUG 1
            before += part;
            if (done) break;
        }
        if (lane == 0) { exclusive = before; if (tile) state[tile] = pack(2, before + total); }  // BUG 2
    }
    if (BUG != 2) __syncthreads();
    if (i < n) y[i] = v + exclusive;  // BUG 2
}

// Bucket chains: nodes are pushed in front of a list by atomicExch, then walked after a grid's last block has arrived.
__global__ void chains(const unsigned* key, unsigned* head, unsigned* next, unsigned* longest, unsigned* arrived, int n, int buckets) {
    __shared__ bool last;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned b = key[i] * 2654435769u >> 27;
        next[i] = atomicExch(head + b, (unsigned)i + 1);  // BUG 1  // BUG 2
    }
    if (BUG != 1) __threadfence();
    if (BUG != 2) __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == gridDim.x - 1;  // BUG 2
    __syncthreads();
    if (!last) return;
    for (int b = threadIdx.x; b < buckets; b += blockDim.x) {
        unsigned length = 0;
        for (unsigned at = head[b]; at; at = next[BUG == 3 ? at : at - 1]) ++length;  // BUG 1  // BUG 2  // BUG 3
        atomicMax(longest, length);
    }
}

// Every thread hands its own value to the thread of the next block, by a flag of its own that counts rounds.
__global__ void thread_flags(const int* x, int* y, int* data, volatile int* flag, int rounds) {
    const int b = blockIdx.x, t = threadIdx.x, n = blockDim.x, at = b * n + t;
    int carry = 0;
    for (int r = 0; r < rounds; ++r) {
        if (b > 0) {
            while (flag[at - n] <= r) {}
            __threadfence();
            carry = data[(r * gridDim.x + b - 1) * n + (BUG == 1 ? (t ^ 1) : t)];  // BUG 1  // BUG 2
        }
        data[(r * gridDim.x + b) * n + t] = carry + x[at] * (r + 1);  // BUG 1  // BUG 2
        if (BUG == 2) __threadfence_block();
        else __threadfence();
        flag[at] = r + 1;
    }
    y[at] = carry;
}

// Ping-pong with acknowledgement between two warps; the same two words all the time.
__global__ void ping_pong(const int* x, int* y, int n) {
    __shared__ int box;
    __shared__ volatile int full;
    if (threadIdx.x == 0) full = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 0; k < n; ++k) {
            while (full) {}
            if (BUG != 2) __threadfence_block();
            box = x[k];  // BUG 1  // BUG 2
            if (BUG != 1) __threadfence_block();
            full = 1;
        }
    } else if (threadIdx.x == 32) {
        for (int k = 0; k < n; ++k) {
            while (!full) {}
            __threadfence_block();
            y[k] = box;  // BUG 1  // BUG 2
            if (BUG != 2) __threadfence_block();
            full = 0;
        }
    }
}
