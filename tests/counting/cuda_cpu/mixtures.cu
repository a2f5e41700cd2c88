// Memory in pieces: carved and reused shared memory, tables of constants, halves, templates.
//
// -DBUG=n plants a bug in a kernel; the lines where a finding may point are marked // BUG n.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifndef BUG
#define BUG 0
#endif

// Dynamic shared memory: floats, then doubles behind them, then a queue of bytes.
__global__ void carved(const float* x, double* sums, unsigned char* flags, int n, int bins) {
    extern __shared__ __align__(16) unsigned char raw[];
    float* a = reinterpret_cast<float*>(raw);
    const size_t a_bytes = BUG == 1 ? n * sizeof(float) : (n * sizeof(float) + 7) / 8 * 8;
    double* s = reinterpret_cast<double*>(raw + a_bytes);
    unsigned char* f = raw + a_bytes + bins * (BUG == 2 ? 4 : 8);
    for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = x[i];
    for (int i = threadIdx.x; i < bins; i += blockDim.x) { s[i] = 0; }  // BUG 1
    for (int i = threadIdx.x; i < bins; i += blockDim.x) { f[i] = 1; }  // BUG 2  // BUG 3
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd(&s[i % bins], (double)a[i]);        // BUG 1  // BUG 2
        if (i < bins && a[i] < 0.1f) f[i] = 2;        // BUG 2
    }
    __syncthreads();
    for (int i = threadIdx.x; i < bins; i += blockDim.x) {
        sums[i] = s[i];                         // BUG 1  // BUG 2
        flags[i] = f[BUG == 3 ? i + 8 : i];     // BUG 2  // BUG 3
    }
}

struct Rule { int next[4]; float cost; };
__constant__ Rule rules[3] = {{{0, 1, 2, 0}, 1.f}, {{1, 1, 0, 2}, 2.f}, {{2, 0, 1, 1}, 3.f}};
__constant__ short weights[6] = {1, -1, 2, -2, 3, -3};
__global__ void automaton(const unsigned char* text, float* cost, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    int state = 0;
    float sum = 0;
    for (int i = t; i < n; i += gridDim.x * blockDim.x) {
        const int symbol = BUG == 1 ? text[i] & 7 : text[i] & 3;
        state = rules[state].next[symbol];  // BUG 1
        sum += rules[state].cost * weights[BUG == 2 ? state * 2 + symbol : state + symbol];  // BUG 1  // BUG 2
    }
    cost[t] = sum;
}

// Softmax of half2 rows with bfloat16 output: pairs, an odd tail.
__global__ void half_rows(const __half* x, __nv_bfloat16* y, int n) {
    const __half* row = x + blockIdx.x * (BUG == 1 ? n : (n + 1) / 2 * 2);
    const __half2* pairs = reinterpret_cast<const __half2*>(row);
    const int lane = threadIdx.x;
    __half2 best = __float2half2_rn(-65504.f);
    for (int i = lane; i < (BUG == 2 ? (n + 1) / 2 : n / 2); i += 32) best = __hmax2(best, pairs[i]);  // BUG 1  // BUG 2
    float m = fmaxf(__low2float(best), __high2float(best));
    if (n % 2) m = fmaxf(m, __half2float(row[n - 1]));
    for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    __half2 sum2;
    if (BUG != 3) sum2 = __float2half2_rn(0.f);
    for (int i = lane; i < n / 2; i += 32) sum2 = __hadd2(sum2, h2exp(__hsub2(pairs[i], __float2half2_rn(m))));
    float sum = __low2float(sum2) + __high2float(sum2);
    if (n % 2 && lane == 0) sum += __expf(__half2float(row[n - 1]) - m);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    for (int i = lane; i < n; i += 32) y[blockIdx.x * n + i] = __float2bfloat16(__expf(__half2float(row[i]) - m) / sum);  // BUG 3
}

// Two passes over a tile of bytes in one union: histogram, then prefix sums, then ranks.
union Room { unsigned counts[64]; unsigned char bytes[256]; unsigned short ranks[128]; };
__global__ void reused_room(const unsigned char* x, unsigned short* rank, unsigned* counts, int n) {
    __shared__ Room room;
    const int t = threadIdx.x;
    if (t < 64) room.counts[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += 128) atomicAdd(&room.counts[x[i] & (BUG == 1 ? 127 : 63)], 1u);  // BUG 1
    __syncthreads();
    if (t < 64) counts[t] = room.counts[t];
    if (BUG != 2) __syncthreads();
    for (int i = t; i < 128; i += 128) room.ranks[i] = 0;  // BUG 2
    __syncthreads();
    if (t < n && t < 128) {
        int r = 0;
        for (int j = 0; j < n && j < 128; ++j) r += x[j] < x[t] || (x[j] == x[t] && j < t);
        room.ranks[r] = t;
    }
    __syncthreads();
    if (t < (BUG == 3 ? n + 1 : n) && t < 128) rank[t] = room.ranks[t];  // BUG 3
}

// A table in the function, variadic templates, a lambda that captures shared memory, a struct beside dynamic memory.
template <class... F>
__device__ float apply(float v, F... f) { ((v = f(v)), ...); return v; }
struct Stats { float sum[4]; int count; };
template <int N>
__global__ void mixed(const float* x, float* y, Stats* stats, int n) {
    extern __shared__ float tail[];
    __shared__ Stats mine;
    constexpr float table[8] = {0.5f, 1.f, 2.f, 4.f, 8.f, 16.f, 32.f, 64.f};
    const int t = threadIdx.x;
    if (t < 4) mine.sum[t] = 0;
    if (BUG != 1 && t == 0) mine.count = 0;
    __syncthreads();
    auto put = [&](int i, float v) { tail[i] = v; atomicAdd(&mine.sum[i & (BUG == 2 ? 7 : 3)], v); atomicAdd(&mine.count, 1); };  // BUG 1  // BUG 2
    for (int i = t; i < n; i += N) put(i, apply(x[i], [&](float v) { return v * table[i & 7]; }, [](float v) { return v + 1; }));
    __syncthreads();
    for (int i = t; i < n; i += N) y[i] = tail[BUG == 3 ? n - i : n - 1 - i];  // BUG 3
    if (t == 0) *stats = mine;  // BUG 1
}

// Labels spread until nothing changes any more; two buffers in shared memory and a vote of the block.
__global__ void spread_labels(const unsigned char* wall, int* label, int w, int h) {
    extern __shared__ int both[];
    int *from = both, *to = both + w * h;
    const int t = threadIdx.x;
    for (int i = t; i < w * h; i += blockDim.x) from[i] = wall[i] ? -1 : i;
    __syncthreads();
    int changed;
    do {
        changed = 0;
        for (int i = t; i < w * h; i += blockDim.x) {
            int best = from[i];  // BUG 2
            if (best >= 0) {
                const int x = i % w, y = i / w;
                if (x > 0) best = max(best, from[i - 1]);  // BUG 2
                if (BUG == 1 ? true : x + 1 < w) best = max(best, from[i + 1]);  // BUG 1  // BUG 2
                if (y > 0) best = max(best, from[i - w]);  // BUG 2
                if (y + 1 < h) best = max(best, from[i + w]);  // BUG 2
            }
            changed |= best != from[i];
            to[i] = best;  // BUG 2
        }
        if (BUG == 2) changed = __any_sync(~0u, changed);
        else changed = __syncthreads_or(changed);
        int* swap = from; from = to; to = swap;
    } while (changed);
    for (int i = t; i < w * h; i += blockDim.x) label[i] = from[i];
}
