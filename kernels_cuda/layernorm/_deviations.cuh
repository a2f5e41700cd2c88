// Sums of a row's deviations from a mean in f32, which is off by more than they are where that is large. What they add up
// to says by how much: the corrected two-pass algorithm (Chan, Golub and LeVeque, "Algorithms for computing the sample
// variance", 1983).

#pragma once

#include "../_rowwise.cuh"

struct Deviations {
    float sum, squares;

    __device__ void operator+=(const Deviations& other) {
        sum += other.sum;
        squares += other.squares;
    }

    __device__ void add(float deviation) {
        sum += deviation;
        squares += deviation * deviation;
    }
};

// What the mean lacks, and the variance about the right one.
struct Corrected {
    float mean, variance;
};

template <int COUNT = 32>
__device__ Deviations warp_reduce(Deviations value) {
    return {warp_reduce<Sum, COUNT>(value.sum), warp_reduce<Sum, COUNT>(value.squares)};
}

// Over the THREADS threads of a row with one barrier, as row_reduce.
template <int THREADS>
__device__ Corrected corrected(Deviations value, Deviations* partial, long long columns) {
    value = warp_reduce<LANES<THREADS>>(value);
    if (THREADS > 32) {
        const int lane = threadIdx.x % 32;
        if (lane == 0) {
            partial[threadIdx.x / 32] = value;
        }
        __syncthreads();
        value = warp_reduce<>(lane < THREADS / 32 ? partial[lane] : Deviations{0.0f, 0.0f});
    }
    const float lacking = value.sum / columns;
    return {lacking, fmaxf(value.squares / columns - lacking * lacking, 0.0f)};
}
