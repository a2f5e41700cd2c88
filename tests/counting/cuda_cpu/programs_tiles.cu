// Tiles, stencils, products and transposes, each correct, and wrong where BUG says so; findings must point at a line marked with
// its number.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#ifndef BUG
#define BUG 0
#endif

__constant__ float filter[25] = {1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1};

// 5 x 5 convolution: the tile and its halo are loaded by all threads in turn.
template <int W, int H>
__global__ void convolve_tile(const float* __restrict__ x, float* __restrict__ y, int width, int height) {
    constexpr int R = 2;
    __shared__ float tile[H + 2 * R][W + 2 * R];
    const int left = blockIdx.x * W - R, top = blockIdx.y * H - R;
    for (int i = threadIdx.y * W + threadIdx.x; i < (H + 2 * R) * (W + 2 * R); i += W * H) {
        const int tx = i % (W + 2 * R), ty = i / (W + 2 * R), gx = left + tx, gy = top + ty;
        const bool inside = BUG == 1 ? gx >= 0 && gx < width && gy < height : gx >= 0 && gx < width && gy >= 0 && gy < height;
        tile[ty][tx] = inside ? x[gy * width + gx] : 0.0f;  // BUG 1 // BUG 2
    }
    if (BUG != 2) __syncthreads();
    const int gx = blockIdx.x * W + threadIdx.x, gy = blockIdx.y * H + threadIdx.y;
    if (gx >= width || gy >= height) return;
    float sum = 0.0f;
#pragma unroll
    for (int dy = 0; dy < 5; ++dy) {
#pragma unroll
        for (int dx = 0; dx < 5; ++dx) sum += filter[dy * 5 + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];  // BUG 2
    }
    y[gy * width + gx] = sum / 256.0f;
}

// Seven-point stencil: a block marches along z and keeps three planes in registers and shared memory.
extern "C" __global__ void stencil_march(const float* in, float* out, int nx, int ny, int nz) {
    __shared__ float plane[10][34];
    const int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, step = nx * ny;
    const bool active = x < nx - 1 && y < ny - 1;
    int at = y * nx + x;
    float below = active ? in[at] : 0.0f, here = active ? in[at + step] : 0.0f;
    for (int z = 1; z < nz - 1; ++z) {
        at += step;
        const float above = active ? in[at + (BUG == 2 ? 2 * step : step)] : 0.0f;  // BUG 2
        if (BUG != 1) __syncthreads();
        if (active) {
            plane[ty][tx] = here;  // BUG 1
            if (threadIdx.x == 0) plane[ty][0] = in[at - 1];
            if (threadIdx.x == 31 || x == nx - 2) plane[ty][tx + 1] = in[at + 1];
            if (threadIdx.y == 0) plane[0][tx] = in[at - nx];
            if (threadIdx.y == 7 || y == ny - 2) plane[ty + 1][tx] = in[at + nx];
        }
        __syncthreads();
        if (active) {
            out[at] = below + above + plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] +  // BUG 1
                      plane[ty + 1][tx] - 6.0f * here;  // BUG 1
        }
        below = here;
        here = above;
    }
}

// Transpose without padding: the column is swizzled by the row.
template <typename T>
__global__ void transpose_swizzled(const T* x, T* y, int rows, int columns) {
    __shared__ T tile[32][32];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) {
        if (column < columns && row + k < rows) {
            tile[threadIdx.y + k][threadIdx.x ^ (threadIdx.y + k)] = x[(row + k) * columns + column];
        }
    }
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) {
        if (BUG == 1 ? column < columns && row + k < rows : column < rows && row + k < columns) {
            const int r = threadIdx.x, c = threadIdx.y + k;
            y[(row + k) * rows + column] = tile[r][BUG == 2 ? c ^ (r + 1) : c ^ r];  // BUG 1 // BUG 2
        }
    }
}

// Pairs of halves: a 64 x 64 tile, each word goes through two transposed halves.
extern "C" __global__ void transpose_half2(const __half* x, __half* y, int rows, int columns) {
    __shared__ __half tile[64][66];
    const int bx = blockIdx.x * 64, by = blockIdx.y * 64;
    for (int r = threadIdx.y; r < 64; r += blockDim.y) {
        const __half2 v = *reinterpret_cast<const __half2*>(&x[(by + r) * columns + bx + 2 * threadIdx.x]);
        *reinterpret_cast<__half2*>(&tile[r][2 * threadIdx.x + (BUG == 1 ? 1 : 0)]) = v;  // BUG 1
    }
    __syncthreads();
    for (int c = threadIdx.y; c < 64; c += blockDim.y) {
        const __half2 v = __halves2half2(tile[2 * threadIdx.x][c], tile[2 * threadIdx.x + 1][c]);
        *reinterpret_cast<__half2*>(&y[(bx + c) * rows + by + 2 * threadIdx.x]) = v;
    }
}

// c = a b, 64 x 64 x 16 tiles, 4 x 4 per thread; the next tile is loaded into registers while this one is used.
extern "C" __global__ void __launch_bounds__(256) sgemm_prefetch(const float* __restrict__ a, const float* __restrict__ b,
                                                                 float* __restrict__ c, int m, int n, int k) {
    __shared__ __align__(16) float as[2][16][64 + 4];
    __shared__ __align__(16) float bs[2][16][64];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const int ar = t / 4, ac = t % 4 * 4, br = t / 16, bc = t % 16 * 4;
    const int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float4 next_a, next_b;
    float sum[4][4] = {};
    auto load = [&](int first) {
        next_a = *reinterpret_cast<const float4*>(&a[(row + ar) * k + first + ac]);  // BUG 2
        next_b = *reinterpret_cast<const float4*>(&b[(first + br) * n + column + bc]);  // BUG 2
    };
    auto store = [&](int stage) {
        as[stage][ac + 0][ar] = next_a.x;  // BUG 1
        as[stage][ac + 1][ar] = next_a.y;  // BUG 1
        as[stage][ac + 2][ar] = next_a.z;  // BUG 1
        as[stage][ac + 3][ar] = next_a.w;  // BUG 1
        *reinterpret_cast<float4*>(&bs[stage][br][bc]) = next_b;  // BUG 1
    };
    load(0);
    store(0);
    __syncthreads();
    int stage = 0;
    for (int first = 16; first <= k; first += 16) {
        if (BUG == 2 || first < k) load(first);
#pragma unroll
        for (int q = 0; q < 16; ++q) {
            const float4 u = *reinterpret_cast<const float4*>(&as[stage][q][ty * 4]);  // BUG 1
            const float4 v = *reinterpret_cast<const float4*>(&bs[stage][q][tx * 4]);  // BUG 1
            const float l[4] = {u.x, u.y, u.z, u.w}, r[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] += l[i] * r[j];
        }
        if (first < k) {
            stage ^= 1;
            store(BUG == 1 ? stage ^ 1 : stage);
            __syncthreads();
        }
    }
    for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float4*>(&c[(row + ty * 4 + i) * n + column + tx * 4]) =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    }
}

// y = a x through a ring of three stages of cp.async; rows are multiples of 128 elements.
extern "C" __global__ void matvec_ring(const float* a, const float* x, float* y, int n) {
    __shared__ __align__(16) float ring[3][4][128];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.x * 4 + warp, steps = n / 128;
    auto fetch = [&](int step) {
        if (step < steps) {
            float* to = &ring[step % (BUG == 1 ? 2 : 3)][warp][4 * lane];
            __pipeline_memcpy_async(to, &a[row * n + step * 128 + 4 * lane], 16);  // BUG 1 // BUG 2
        }
        __pipeline_commit();
    };
    fetch(0);
    fetch(1);
    float sum = 0.0f;
    for (int step = 0; step < steps; ++step) {
        fetch(step + 2);
        __pipeline_wait_prior(BUG == 2 ? 3 : 2);
        __syncwarp();
        const float* part = ring[step % (BUG == 1 ? 2 : 3)][warp];
        for (int i = lane; i < 128; i += 32) sum += part[i] * x[step * 128 + i];  // BUG 1 // BUG 2
        __syncwarp();
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

// All pairs: bodies go through shared memory in tiles of float4; the last tile may be short.
extern "C" __global__ void nbody(const float* bodies, float* forces, int n) {
    const float4* body = reinterpret_cast<const float4*>(bodies);
    __shared__ float4 tile[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    const float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += 64) {
        if (BUG == 1 || first + (int)threadIdx.x < n) tile[threadIdx.x] = body[first + threadIdx.x];  // BUG 1
        __syncthreads();
        const int count = min(64, n - first);
        for (int j = 0; j < count; ++j) {
            const float4 other = tile[j];  // BUG 2
            const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            const float d = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            const float s = other.w * d * d * d;
            sum.x += dx * s, sum.y += dy * s, sum.z += dz * s;
        }
        if (BUG != 2) __syncthreads();
    }
    if (i < n) reinterpret_cast<float3*>(forces)[i] = sum;
}

// Largest of 2 x 2 neighbours, any channel count, and which of them it was.
extern "C" __global__ void max_pool(const float* x, float* y, signed char* which, int channels, int height, int width) {
    const int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y, c = blockIdx.z;
    const int ow = BUG == 1 ? (width + 1) / 2 : width / 2, oh = height / 2;
    if (ox >= ow) return;
    const float* in = x + (c * height + 2 * oy) * width + 2 * ox;
    float best = in[0];
    int at = 0;
    for (int k = 1; k < 4; ++k) {
        const float v = in[k / 2 * width + k % 2];  // BUG 1
        if (v > best) best = v, at = k;
    }
    const int o = (c * oh + oy) * (BUG == 1 ? width / 2 : ow) + ox;
    y[o] = best;  // BUG 1
    which[BUG == 2 ? 4 * o : o] = at;  // BUG 2
}

// Solves 16 x 16 systems, one per warp-sized half block, without pivoting.
extern "C" __global__ void gauss_jordan(const float* a, const float* b, float* x) {
    __shared__ float m[16][17];
    const int r = threadIdx.y, c = threadIdx.x;
    m[r][c] = a[blockIdx.x * 256 + r * 16 + c];
    if (c == 0) m[r][16] = b[blockIdx.x * 16 + r];
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
        const float factor = m[r][k] / m[k][k];  // BUG 1 // BUG 2
        if (BUG != 1) __syncthreads();
        if (r != k) {
            m[r][c] -= factor * m[k][c];  // BUG 1 // BUG 2
            if (c == 0) m[r][16] -= factor * m[k][16];
        }
        if (BUG != 2) __syncthreads();
    }
    if (c == 0) x[blockIdx.x * 16 + r] = m[r][16] / m[r][r];  // BUG 2
}
