// y = f(f(... x)), `steps` of them, 16 bytes per thread; one instance of f per element, side by side.

#pragma once

#include "_packs.cuh"

template <typename T, typename Index, typename F>
__device__ void chain(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs, int steps, F f) {
    for_own_item<T>(
        n, head, packs,
        [&](Index i) {
            uint4 word = packs_from(x + head)[i];
            T* value = reinterpret_cast<T*>(&word);  // in place: the copies of map_pack make some of these loops longer
            for (int step = 0; step < steps; ++step) {
#pragma unroll
                for (int k = 0; k < WIDTH<T>; ++k) {
                    value[k] = f(value[k]);
                }
            }
            packs_from(y + head)[i] = word;
        },
        [&](Index e) {
            T value = x[e];
            for (int step = 0; step < steps; ++step) {
                value = f(value);
            }
            y[e] = value;
        });
}
