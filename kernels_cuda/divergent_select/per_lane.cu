// y = c > 0 ? f(x) : g(x), each lane branching for itself. Lanes of one warp that disagree run both sides one after the
// other: with random selectors it takes the time of both, with selectors that 32 neighbours share that of one.

#include "divergent_select.cuh"

template <typename Index>
__global__ void divergent_select_per_lane(const float* __restrict__ c, const float* __restrict__ x,
                                          float* __restrict__ y, Index n, Index group) {
    const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = x[i];
        if (c[i / group] > 0.0f) {
            value = chosen(value);
        } else {
            value = otherwise(value);
        }
        y[i] = value;
    }
}
