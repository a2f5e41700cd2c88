// y = x, UNROLL packs per thread, all loaded before the first is stored: UNROLL times the bytes in flight per thread
// for the same number of warps (Little's law), and UNROLL times fewer blocks.

#include "../_packs.cuh"

template <typename T, int UNROLL>
__global__ void copy_unrolled(const T* __restrict__ x, T* __restrict__ y, long long n, long long head) {
    const uint4* x_packs = packs_from(x + head);
    uint4* y_packs = packs_from(y + head);
    for_packs<UNROLL>(
        (n - head) / WIDTH<T>,
        [&](long long i) {
            uint4 loaded[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                loaded[u] = x_packs[i + u * static_cast<int>(blockDim.x)];
            }
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                y_packs[i + u * static_cast<int>(blockDim.x)] = loaded[u];
            }
        },
        [&](long long i) { y_packs[i] = x_packs[i]; });
    for_edges<T>(n, head, [&](long long e) { y[e] = x[e]; });
}
