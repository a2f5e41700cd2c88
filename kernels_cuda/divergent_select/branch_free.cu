// y = c > 0 ? f(x) : g(x) without a branch: every lane computes both sides and selects. The time is that of both whatever
// the selectors, but the two chains are independent, so that one hides the latency of the other.

#include "divergent_select.cuh"

template <typename Index>
__global__ void divergent_select_branch_free(const float* __restrict__ c, const float* __restrict__ x,
                                             float* __restrict__ y, Index n, Index group) {
    const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = selected(c[i / group] > 0.0f, x[i]);
    }
}
