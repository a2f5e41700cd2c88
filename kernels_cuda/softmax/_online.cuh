// The running softmax of one thread: largest element so far, and the sum of exponentials relative to it.

#pragma once

#include "../_rowwise.cuh"

// exp(-inf - -inf) is NaN: as long as all elements are -inf, they are held against 0 instead.
__device__ inline float shift_of(float largest) {
    return largest == -CUDART_INF_F ? 0.0f : largest;
}

struct Online {
    float largest = -CUDART_INF_F;
    float sum = 0.0f;

    template <int WIDTH>
    __device__ void add(const float (&value)[WIDTH]) {
        float larger = largest;
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            larger = fmaxf(larger, value[k]);
        }
        const float shift = shift_of(larger);
        sum *= __expf(largest - shift);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            sum += __expf(value[k] - shift);
        }
        largest = larger;
    }

    // Over the threads of a row: its `largest` and `sum`, in every thread.
    template <int THREADS>
    __device__ void reduce(float* maxima, float* sums) {
        const float larger = row_reduce<Max, THREADS>(largest, maxima);
        sum = row_reduce<Sum, THREADS>(sum * __expf(largest - shift_of(larger)), sums);
        largest = larger;
    }
};
