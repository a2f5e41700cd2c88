// y = exp(-exp(... -x)), `steps` of them, by the intrinsic: little more than one instruction of the special-function
// units; its error grows with the argument, which is rounded once more on its way.

#include "../_chain.cuh"

template <typename T, typename Index>
__global__ void exp_chain_fast(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs,
                               int steps) {
    chain(x, y, n, head, packs, steps, [](T value) { return __expf(-value); });
}
