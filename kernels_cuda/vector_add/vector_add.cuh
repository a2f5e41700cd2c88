// What is done to one element.

#pragma once

#include "../_packs.cuh"

template <typename T>
struct Add {
    __device__ T operator()(T x, T y) const { return x + y; }
};
