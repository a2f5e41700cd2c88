// c = a * b + c, UNROLL packs per thread, all loaded before the first is used: UNROLL times the bytes in flight per
// thread for the same number of warps (Little's law), and UNROLL times fewer blocks.

#include "fma.cuh"

template <int UNROLL>
__global__ void fma_unrolled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                             long long n, long long head) {
    const uint4* a_packs = packs_from(a + head);
    const uint4* b_packs = packs_from(b + head);
    uint4* c_packs = packs_from(c + head);
    for_packs<UNROLL>(
        (n - head) / WIDTH<float>,
        [&](long long i) {
            uint4 a_loaded[UNROLL], b_loaded[UNROLL], c_loaded[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                a_loaded[u] = a_packs[i + u * static_cast<int>(blockDim.x)];
                b_loaded[u] = b_packs[i + u * static_cast<int>(blockDim.x)];
                c_loaded[u] = c_packs[i + u * static_cast<int>(blockDim.x)];
            }
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                c_packs[i + u * static_cast<int>(blockDim.x)] = fma_pack(a_loaded[u], b_loaded[u], c_loaded[u]);
            }
        },
        [&](long long i) { c_packs[i] = fma_pack(a_packs[i], b_packs[i], c_packs[i]); });
    for_edges<float>(n, head, [&](long long e) { c[e] = fmaf(a[e], b[e], c[e]); });
}
