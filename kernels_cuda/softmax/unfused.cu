// y = softmax of each row of x, as three kernels that each read x again: largest element, sum of exponentials, result.

#include "../_rowwise.cuh"

template <typename T, int WIDTH, int THREADS>
__global__ void softmax_unfused_max(const T* __restrict__ x, float* __restrict__ maxima, long long columns,
                                    long long x_row) {
    __shared__ float partial[32];
    float largest = -CUDART_INF_F;
    for (long long i = threadIdx.x; i < columns / WIDTH; i += THREADS) {
        float value[WIDTH];
        load<T, WIDTH>(x + blockIdx.x * x_row, i, value);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            largest = fmaxf(largest, value[k]);
        }
    }
    largest = row_reduce<Max, THREADS>(largest, partial);
    if (threadIdx.x == 0) {
        maxima[blockIdx.x] = largest;
    }
}

template <typename T, int WIDTH, int THREADS>
__global__ void softmax_unfused_sum(const T* __restrict__ x, const float* __restrict__ maxima, float* __restrict__ sums,
                                    long long columns, long long x_row) {
    __shared__ float partial[32];
    const float largest = maxima[blockIdx.x];
    const auto exponential = [largest](float value) { return __expf(value - largest); };
    float sum = long_sum<float, T, WIDTH, THREADS>(x + blockIdx.x * x_row, columns / WIDTH, exponential);
    sum = row_reduce<Sum, THREADS>(sum, partial);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}

template <typename T, int WIDTH, int THREADS>
__global__ void softmax_unfused_scale(const T* __restrict__ x, const float* __restrict__ maxima,
                                      const float* __restrict__ sums, T* __restrict__ y, long long columns,
                                      long long x_row, long long y_row) {
    const float largest = maxima[blockIdx.x];
    const float scale = 1.0f / sums[blockIdx.x];
    for (long long i = threadIdx.x; i < columns / WIDTH; i += THREADS) {
        float value[WIDTH];
        load<T, WIDTH>(x + blockIdx.x * x_row, i, value);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            value[k] = __expf(value[k] - largest) * scale;
        }
        store<T, WIDTH>(y + blockIdx.x * y_row, i, value);
    }
}
