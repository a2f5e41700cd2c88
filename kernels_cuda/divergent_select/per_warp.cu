// y = c > 0 ? f(x) : g(x), the warp branching as one: it votes, computes one side where all lanes agree, and otherwise both
// sides for all lanes. No lane ever waits for another, and agreement saves a side.

#include "divergent_select.cuh"

template <typename Index>
__global__ void divergent_select_per_warp(const float* __restrict__ c, const float* __restrict__ x,
                                          float* __restrict__ y, Index n, Index group) {
    const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    const bool inside = i < n;
    const float value = inside ? x[i] : 0.0f;
    const bool choice = inside && c[i / group] > 0.0f;
    const unsigned choosing = __ballot_sync(0xffffffffu, choice);
    const unsigned present = __ballot_sync(0xffffffffu, inside);
    float result;
    if (choosing == present) {
        result = chosen(value);
    } else if (choosing == 0) {
        result = otherwise(value);
    } else {
        result = selected(choice, value);
    }
    if (inside) {
        y[i] = result;
    }
}
