// What one thread does to one pack.

#pragma once

#include "../_packs.cuh"

__device__ inline uint4 fma_pack(uint4 a, uint4 b, uint4 c) {
    const float* a_element = reinterpret_cast<const float*>(&a);
    const float* b_element = reinterpret_cast<const float*>(&b);
    float* c_element = reinterpret_cast<float*>(&c);
#pragma unroll
    for (int k = 0; k < WIDTH<float>; ++k) {
        c_element[k] = fmaf(a_element[k], b_element[k], c_element[k]);
    }
    return c;
}
