// Algorithms of one block, each correct, and wrong where BUG says so; findings must point at a line marked with its number.

#include <cuda_runtime.h>

#ifndef BUG
#define BUG 0
#endif

// Inclusive scan by doubling, two buffers.
extern "C" __global__ void scan_doubling(const int* x, int* y, int n) {
    __shared__ int buffer[2][256];
    const int t = threadIdx.x;
    int from = 0;
    buffer[0][t] = t < n ? x[t] : 0;
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        const int to = BUG == 1 ? from : 1 - from;
        int v = buffer[from][t];  // BUG 1
        if (t >= distance) v += buffer[from][t - distance];  // BUG 1
        buffer[to][t] = v;  // BUG 1
        __syncthreads();
        from = to;
    }
    if (t < n) y[t] = buffer[from][t];
}

// Exclusive scan, up-sweep and down-sweep.
extern "C" __global__ void scan_sweeps(const int* x, int* y) {
    __shared__ int s[512];
    const int t = threadIdx.x;
    s[2 * t] = x[2 * t];
    s[2 * t + 1] = x[2 * t + 1];
    int stride = 1;
    for (int active = 256; active > 0; active /= 2) {
        __syncthreads();
        if (t < active) {
            const int left = stride * (2 * t + 1) - 1, right = stride * (2 * t + 2) - (BUG == 1 ? 0 : 1);
            s[right] += s[left];  // BUG 1
        }
        stride *= 2;
    }
    if (t == 0) s[511] = 0;
    for (int active = 1; active < 512; active *= 2) {
        stride /= 2;
        __syncthreads();
        if (t < active) {
            const int left = stride * (2 * t + 1) - 1, right = stride * (2 * t + 2) - 1;
            const int v = s[left];
            s[left] = s[right];
            s[right] += v;
        }
    }
    if (BUG != 2) __syncthreads();
    y[2 * t] = s[(2 * t + 7) % 512];  // BUG 2
    y[2 * t + 1] = s[2 * t + 1];  // BUG 2
}

extern "C" __global__ void bitonic_sort(float* x) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int size = 2; size <= 256; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            const int other = t ^ stride;
            if (other > t) {
                const bool up = (t & size) == 0;
                if ((s[t] > s[other]) == up) {  // BUG 1
                    const float v = s[t];
                    s[t] = s[other];  // BUG 1
                    s[other] = v;  // BUG 1
                }
            }
            if (BUG != 1 || stride > 64) __syncthreads();
        }
    }
    __syncthreads();
    x[t] = s[t];
}

// Five-point stencil through a tile with a halo; the border of x stays as it is.
extern "C" __global__ void stencil_tile(const float* x, float* y, int h, int w) {
    __shared__ float tile[18][18];
    const int gx = blockIdx.x * 16 + threadIdx.x, gy = blockIdx.y * 16 + threadIdx.y;
    const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    if (gx < w && gy < h) {
        tile[ly][lx] = x[gy * w + gx];
        if (threadIdx.x == 0 && gx > 0) tile[ly][0] = x[gy * w + gx - 1];
        if (threadIdx.x == 15 && gx < w - 1) tile[ly][17] = x[gy * w + gx + 1];
        if (threadIdx.y == 0 && gy > 0) tile[0][lx] = x[(gy - 1) * w + gx];
        if (BUG != 1 && threadIdx.y == 15 && gy < h - 1) tile[17][lx] = x[(gy + 1) * w + gx];
    }
    __syncthreads();
    const bool inside = BUG == 2 ? gx < w && gy < h : gx > 0 && gx < w - 1 && gy > 0 && gy < h - 1;
    if (inside) {
        y[gy * w + gx] = 0.25f * (tile[ly][lx - 1] + tile[ly][lx + 1] + tile[ly - 1][lx] +  // BUG 2
                                  tile[ly + 1][lx]);  // BUG 1 // BUG 2
    } else if (gx < w && gy < h) {
        y[gy * w + gx] = tile[ly][lx];
    }
}

// Several sweeps of a stencil in shared memory; the buffers change roles.
extern "C" __global__ void jacobi_sweeps(const float* x, float* y, int sweeps) {
    __shared__ float buffers[2][130];
    const int t = threadIdx.x + 1;
    float* old = buffers[0];
    float* fresh = buffers[1];
    old[t] = x[t];
    fresh[t] = x[t];
    if (threadIdx.x == 0) old[0] = fresh[0] = x[0];
    if (threadIdx.x == blockDim.x - 1) old[t + 1] = fresh[t + 1] = x[t + 1];
    __syncthreads();
    for (int k = 0; k < sweeps; ++k) {
        fresh[t] = 0.5f * (old[t - 1] + old[t + 1]);  // BUG 1
        __syncthreads();
        float* const swap = old;
        old = fresh;
        fresh = BUG == 1 ? old : swap;
    }
    y[t] = old[t];
}

// Mean and variance of a row; one scratch array serves both sums.
extern "C" __global__ void row_moments(const float* x, float* y, int n) {
    __shared__ float scratch[8];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float sum = 0.0f;
    for (int i = t; i < n; i += 256) sum += x[blockIdx.x * n + i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) scratch[warp] = sum;
    __syncthreads();
    float mean = 0.0f;
    for (int i = 0; i < 8; ++i) mean += scratch[i];  // BUG 1
    mean /= n;
    if (BUG != 1) __syncthreads();
    float square = 0.0f;
    for (int i = t; i < n; i += 256) square += (x[blockIdx.x * n + i] - mean) * (x[blockIdx.x * n + i] - mean);
    for (int d = 16; d > 0; d /= 2) square += __shfl_xor_sync(~0u, square, d);
    if (lane == 0) scratch[warp] = square;  // BUG 1
    __syncthreads();
    if (t == 0) {
        float variance = 0.0f;
        for (int i = 0; i < (BUG == 2 ? 9 : 8); ++i) variance += scratch[i];  // BUG 2
        y[2 * blockIdx.x] = mean;
        y[2 * blockIdx.x + 1] = variance / n;
    }
}

// A warp factorises a 32 x 32 matrix in shared memory (Cholesky, lower).
extern "C" __global__ void cholesky_warp(const float* a, float* l) {
    __shared__ float m[32][33];
    const int lane = threadIdx.x;
    for (int i = 0; i < 32; ++i) m[i][lane] = a[i * 32 + lane];
    __syncwarp();
    for (int k = 0; k < 32; ++k) {
        if (lane == k) m[k][k] = sqrtf(m[k][k]);  // BUG 1
        if (BUG != 1) __syncwarp();
        if (lane > k) m[lane][k] /= m[k][k];  // BUG 1
        __syncwarp();
        if (lane > k) {
            for (int j = k + 1; j <= lane; ++j) m[lane][j] -= m[lane][k] * m[j][k];
        }
        __syncwarp();
    }
    for (int i = 0; i < 32; ++i) l[i * 32 + lane] = lane <= i ? m[i][lane] : 0.0f;
}

// Dynamic shared memory carved into keys, values and scores.
extern "C" __global__ void attention_row(const float* q, const float* k, const float* v, float* out, int keys) {
    extern __shared__ float memory[];
    float* key = memory;
    float* value = key + keys * (BUG == 1 ? 16 : 32);
    float* score = value + keys * 32;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int i = threadIdx.x; i < keys * 32; i += blockDim.x) {
        key[i] = k[i];  // BUG 1
        value[i] = v[i];  // BUG 1
    }
    __syncthreads();
    for (int j = warp; j < keys; j += warps) {
        float dot = q[lane] * key[j * 32 + lane];
        for (int d = 16; d > 0; d /= 2) dot += __shfl_xor_sync(~0u, dot, d);
        if (lane == 0) score[j] = dot;
    }
    if (BUG != 2) __syncthreads();
    if (warp == 0) {
        float top = -INFINITY, total = 0.0f, sum = 0.0f;
        for (int j = 0; j < keys; ++j) top = fmaxf(top, score[j]);  // BUG 2
        for (int j = 0; j < keys; ++j) {
            const float weight = expf(score[j] - top);
            total += weight;
            sum += weight * value[j * 32 + lane];
        }
        out[lane] = sum / total;
    }
}
