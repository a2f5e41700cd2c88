// The two sides of the selection: chains of dependent multiply-adds, long enough that arithmetic is the limit.
//
// They are loops that are unrolled in part only: out of two straight lines the compiler makes one, with selected
// coefficients, and no branch is left to measure.

#pragma once

constexpr int STEPS = 64;

__device__ inline float chosen(float value) {
#pragma unroll 8
    for (int step = 0; step < STEPS; ++step) {
        value = fmaf(value, 0.75f, 0.5f);
    }
    return value;
}

__device__ inline float otherwise(float value) {
#pragma unroll 8
    for (int step = 0; step < STEPS; ++step) {
        value = fmaf(value, -0.5f, 0.25f);
    }
    return value;
}

// Both sides in one loop, so that each chain hides the latency of the other.
__device__ inline float selected(bool choice, float value) {
    float one = value, other = value;
#pragma unroll 8
    for (int step = 0; step < STEPS; ++step) {
        one = fmaf(one, 0.75f, 0.5f);
        other = fmaf(other, -0.5f, 0.25f);
    }
    return choice ? one : other;
}
