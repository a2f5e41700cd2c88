// Programs of many blocks and irregular ones, each correct, and wrong where BUG says so; findings must point at a line marked
// with its number.

#include <cuda_runtime.h>

#ifndef BUG
#define BUG 0
#endif

// First pass of a radix sort: how often each of 16 digits occurs in a block's part.
extern "C" __global__ void radix_count(const unsigned* keys, unsigned* counts, int n, int shift) {
    __shared__ unsigned local[16];
    if (threadIdx.x < 16) local[threadIdx.x] = 0;
    if (BUG != 1) __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&local[keys[i] >> shift & (BUG == 2 ? 31u : 15u)], 1u);  // BUG 1 // BUG 2
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];  // BUG 1
}

// Second pass: keys to their places, equal digits in their order. A warp ranks its lanes by matching digits.
extern "C" __global__ void radix_scatter(const unsigned* keys, const unsigned* starts, unsigned* sorted, int n, int shift) {
    __shared__ unsigned seen[4][16];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 128 + threadIdx.x;
    for (int k = threadIdx.x; k < 64; k += 128) seen[k / 16][k % 16] = 0;
    __syncthreads();
    const bool valid = i < n;
    const unsigned key = valid ? keys[i] : 0u, digit = valid ? key >> shift & 15u : 16u;
    const unsigned peers = __match_any_sync(~0u, digit);
    const int rank = __popc(peers & ((1u << lane) - 1));
    if (valid && rank == 0) seen[warp][digit] = __popc(peers);  // BUG 1
    if (BUG != 1) __syncthreads();
    if (valid) {
        unsigned place = starts[digit * gridDim.x + blockIdx.x] + rank;
        for (int w = 0; w < warp; ++w) place += seen[w][digit];  // BUG 1
        sorted[BUG == 2 ? place + 1 : place] = key;  // BUG 2
    }
}

// Single-pass scan: a block's status and value travel together in one 64-bit word, so no fence is needed.
extern "C" __global__ void scan_packed(const unsigned* x, unsigned* y, unsigned long long* status, int n) {
    __shared__ unsigned warp_sums[8];
    __shared__ unsigned before;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 256 + t;
    unsigned v = i < n ? x[i] : 0u;
    for (int d = 1; d < 32; d *= 2) {
        const unsigned left = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += left;
    }
    if (lane == 31) warp_sums[warp] = v;
    __syncthreads();
    unsigned total = 0, mine = 0;
    for (int w = 0; w < 8; ++w) {
        if (w == warp) mine = total;
        total += warp_sums[w];
    }
    v += mine;
    if (t == 0) {
        unsigned sum = 0;
        if (blockIdx.x > 0) {
            atomicExch(&status[blockIdx.x], 1ull << 32 | total);
            for (int b = blockIdx.x - 1; b >= 0;) {
                const unsigned long long word = BUG == 1 ? status[b] : atomicAdd(&status[b], 0ull);  // BUG 1
                if (word >> 32 == 0) continue;
                sum += static_cast<unsigned>(word);
                if (word >> 32 == 2) break;
                --b;
            }
        }
        atomicExch(&status[blockIdx.x], 2ull << 32 | (sum + total));  // BUG 1
        before = sum;  // BUG 2
    }
    if (BUG != 2) __syncthreads();
    if (i < n) y[i] = v + before;  // BUG 2
}

// Persistent blocks take rows from a queue; the last one out puts the counter back.
extern "C" __global__ void row_queue(const float* x, float* y, int* next, int rows, int n) {
    __shared__ int row;
    __shared__ float part[2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (;;) {
        if (threadIdx.x == 0) row = BUG == 2 ? (*next)++ : atomicAdd(next, 1);  // BUG 1 // BUG 2
        __syncthreads();
        const int mine = row;  // BUG 1
        if (mine >= rows) return;
        float sum = 0.0f;
        for (int i = threadIdx.x; i < n; i += 64) sum += fabsf(x[mine * n + i]);
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
        if (lane == 0) part[warp] = sum;  // BUG 1
        if (BUG != 1) __syncthreads();
        if (threadIdx.x == 0) y[mine] = part[0] + part[1];  // BUG 1
    }
}

// Labels of connected components: hooks the larger root onto the smaller one.
extern "C" __global__ void hook_components(const int* from, const int* to, int* parent, int edges) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    int u = from[e], v = to[e];
    for (;;) {
        while (u != atomicAdd(&parent[u], 0)) u = atomicAdd(&parent[u], 0);
        while (v != atomicAdd(&parent[v], 0)) v = atomicAdd(&parent[v], 0);
        if (u == v) return;
        const int high = max(u, v), low = min(u, v);
        if (BUG == 1) {
            if (parent[high] == high) {  // BUG 1
                parent[high] = low;  // BUG 1
                return;
            }
        } else if (atomicCAS(&parent[high], high, low) == high) {
            return;
        }
    }
}

// Counts words in an open hash table with 64-bit keys; zero is the empty slot.
extern "C" __global__ void count_keys(const unsigned long long* keys, unsigned long long* table, unsigned* counts, int n,
                                      unsigned mask) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const unsigned long long key = keys[BUG == 2 ? i + stride : i];  // BUG 2
        unsigned slot = static_cast<unsigned>(key * 0x9E3779B97F4A7C15ull >> 40) & mask;
        for (;;) {
            const unsigned long long old = atomicCAS(&table[slot], 0ull, key);
            if (old == 0ull || old == key) break;
            slot = (slot + 1) & mask;
        }
        if (BUG == 1) counts[slot] += 1;  // BUG 1
        else atomicAdd(&counts[slot], 1u);
    }
}

// A sparse row per 8 lanes, then the sum over the tile.
template <int LANES>
__global__ void spmv_tiles(const int* __restrict__ starts, const int* __restrict__ columns, const double* __restrict__ values,
                           const double* __restrict__ x, double* __restrict__ y, int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    double sum = 0.0;
    if (row < rows) {
        const int end = starts[row + 1];
        for (int j = starts[row] + lane; BUG == 1 ? j <= end : j < end; j += LANES) sum += values[j] * x[columns[j]];  // BUG 1
    }
    for (int d = LANES / 2; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d, LANES);
    if (lane == 0 && (BUG == 2 || row < rows)) y[row] = sum;  // BUG 2
}

// Two sorted arrays into one: each thread finds where its element goes by binary search.
extern "C" __global__ void merge_sorted(const int* a, const int* b, int* out, int m, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m + n) return;
    const bool first = i < m;
    const int* other = first ? b : a;
    const int v = first ? a[i] : b[i - m];
    int low = 0, high = first ? n : m;
    while (BUG == 1 ? low <= high : low < high) {
        const int middle = (low + high) / 2;
        const int there = other[middle];  // BUG 1
        const bool before = first ? there < v : there <= v;
        if (before) low = middle + 1;
        else high = BUG == 1 ? middle - 1 : middle;
    }
    const int own = first ? i : i - m;
    out[BUG == 2 ? low : own + low] = v;  // BUG 2
}

// One generation of Conway's game, four cells to a thread, the board wraps around.
extern "C" __global__ void life(const unsigned char* cells, unsigned char* next, int width, int height) {
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || (BUG == 1 ? y > height : y >= height)) return;
    uchar4 result;
    unsigned char* out = &result.x;
    for (int k = 0; k < 4; ++k) {
        int count = 0;
        for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
                const int cx = (x + k + dx + width) % width, cy = BUG == 2 ? (y + dy) % height : (y + dy + height) % height;
                if (dx || dy) count += cells[cy * width + cx];  // BUG 2
            }
        }
        out[k] = count == 3 || (count == 2 && cells[y * width + x + k]);  // BUG 1
    }
    *reinterpret_cast<uchar4*>(&next[y * width + x]) = result;  // BUG 1
}

// Histogram of bytes: 16 at a time, one private copy per warp.
extern "C" __global__ void byte_histogram(const unsigned* x, unsigned* bins, int quads) {
    __shared__ unsigned local[4][256];
    const int warp = threadIdx.x / 32;
    for (int b = threadIdx.x; b < 1024; b += 128) local[b / 256][b % 256] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 128 + threadIdx.x; i < quads; i += gridDim.x * 128) {
        const uint4 v = reinterpret_cast<const uint4*>(x)[i];
        const unsigned words[4] = {v.x, v.y, v.z, v.w};
        for (int w = 0; w < 4; ++w) {
            for (int k = 0; k < 4; ++k) {
                const unsigned byte = words[w] >> (8 * (BUG == 2 ? k + w : k)) & 255u;  // BUG 2
                if (BUG == 1) ++local[warp][byte];  // BUG 1
                else atomicAdd(&local[warp][byte], 1u);
            }
        }
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += 128) {
        const unsigned sum = local[0][b] + local[1][b] + local[2][b] + local[3][b];
        if (sum) atomicAdd(&bins[b], sum);
    }
}

// How long each point stays bounded; lanes leave the loop at different times.
extern "C" __global__ void mandelbrot(int* steps, int width, int height, float scale, int limit) {
    const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || (BUG == 1 ? false : py >= height)) return;
    const float cx = px * scale - 2.0f, cy = py * scale - 1.0f;
    float x = 0.0f, y = 0.0f;
    int k = 0;
    while (x * x + y * y <= 4.0f && k < limit) {
        const float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        ++k;
    }
    steps[py * width + px] = k;  // BUG 1
}

// Gradient of an image of bytes; the border is clamped.
extern "C" __global__ void sobel(const unsigned char* image, short* out, int width, int height, int pitch) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    auto at = [&](int dx, int dy) {
        const int cx = min(max(x + dx, 0), width - 1), cy = BUG == 1 ? y + dy : min(max(y + dy, 0), height - 1);
        return static_cast<int>(image[cy * pitch + cx]);  // BUG 1
    };
    const int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
    const int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
    out[y * (BUG == 2 ? pitch : width) + x] = static_cast<short>(abs(gx) + abs(gy));  // BUG 2
}

struct Field {
    int width, height;
    float scale;
    double origin[2];
};

// Parameters in a struct, 64-bit indices, numbers from a generator in each thread.
extern "C" __global__ void sample_field(Field field, const float* values, float* out, long long count, unsigned seed) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned state = seed + 2654435761u * static_cast<unsigned>(i);
    auto random = [&]() {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        return (state >> 8) * (1.0f / 16777216.0f);
    };
    random();
    const float fx = random() * (BUG == 1 ? field.width : field.width - 1), fy = random() * (field.height - 1);
    const int x = static_cast<int>(fx), y = static_cast<int>(fy);
    const float u = fx - x, v = fy - y;
    const float* at = values + (long long)y * field.width + x;
    const float top = at[0] + u * (at[1] - at[0]);
    const float below = at[field.width] + u * (at[field.width + 1] - at[field.width]);  // BUG 1
    const float scaled = field.scale * (top + v * (below - top));
    out[BUG == 2 ? i * 2 : i] = static_cast<float>(field.origin[0] + scaled + field.origin[1]);  // BUG 2
}
