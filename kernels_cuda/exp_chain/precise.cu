// y = exp(-exp(... -x)), `steps` of them, by the library function: two units in
// the last place for every argument, for which it pays with a reduction of the argument in two parts.

#include "../_packs.cuh"

template <typename T, typename Index>
__global__ void exp_chain_precise(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs, int steps) {
    for_own_item<T>(
        n, head, packs,
        [&](Index i) {
            uint4 word = packs_from(x + head)[i];
            T* value = reinterpret_cast<T*>(&word);
            for (int step = 0; step < steps; ++step) {
#pragma unroll
                for (int k = 0; k < WIDTH<T>; ++k) {
                    value[k] = expf(-value[k]);
                }
            }
            packs_from(y + head)[i] = word;
        },
        [&](Index e) {
            T value = x[e];
            for (int step = 0; step < steps; ++step) {
                value = expf(-value);
            }
            y[e] = value;
        });
}
