// y = exp(-exp(... -x)), `steps` of them, by the intrinsic: little more than one
// instruction of the special-function units; its error grows with the argument, which is rounded once more on its way.

#include "../_packs.cuh"

template <typename T, typename Index>
__global__ void exp_chain_fast(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs, int steps) {
    for_own_item<T>(
        n, head, packs,
        [&](Index i) {
            uint4 word = packs_from(x + head)[i];
            T* value = reinterpret_cast<T*>(&word);
            for (int step = 0; step < steps; ++step) {
#pragma unroll
                for (int k = 0; k < WIDTH<T>; ++k) {
                    value[k] = __expf(-value[k]);
                }
            }
            packs_from(y + head)[i] = word;
        },
        [&](Index e) {
            T value = x[e];
            for (int step = 0; step < steps; ++step) {
                value = __expf(-value);
            }
            y[e] = value;
        });
}
