// y = x + y, UNROLL packs per thread, all loaded before the first is added: UNROLL times the bytes in flight per thread
// for the same number of warps. How many packs and threads pay depends on the size, and the launcher has a table of it.

#include "vector_add.cuh"

template <typename T, int UNROLL>
__global__ void vector_add_tuned(const T* __restrict__ x, T* __restrict__ y, long long n, long long head) {
    const uint4* x_packs = packs_from(x + head);
    uint4* y_packs = packs_from(y + head);
    for_packs<UNROLL>(
        (n - head) / WIDTH<T>,
        [&](long long i) {
            uint4 x_loaded[UNROLL], y_loaded[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                x_loaded[u] = x_packs[i + u * static_cast<int>(blockDim.x)];
                y_loaded[u] = y_packs[i + u * static_cast<int>(blockDim.x)];
            }
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                y_packs[i + u * static_cast<int>(blockDim.x)] = map_packs<T>(x_loaded[u], y_loaded[u], Add<T>());
            }
        },
        [&](long long i) { y_packs[i] = map_packs<T>(x_packs[i], y_packs[i], Add<T>()); });
    for_edges<T>(n, head, [&](long long e) { y[e] = x[e] + y[e]; });
}
