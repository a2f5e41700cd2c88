// y = (x - mean) / sqrt(variance + eps) * weight + bias for each row of x, as three kernels that each read x again:
// mean, variance (of the deviations, so that a large mean cancels nothing), result.

#include "../_rowwise.cuh"

template <typename T, int WIDTH, int THREADS>
__global__ void layernorm_unfused_mean(const T* __restrict__ x, float* __restrict__ means, long long columns,
                                       long long x_row) {
    __shared__ float partial[32];
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < columns / WIDTH; i += THREADS) {
        float value[WIDTH];
        load<T, WIDTH>(x + blockIdx.x * x_row, i, value);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            sum += value[k];
        }
    }
    sum = row_reduce<Sum, THREADS>(sum, partial);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = sum / columns;
    }
}

template <typename T, int WIDTH, int THREADS>
__global__ void layernorm_unfused_variance(const T* __restrict__ x, const float* __restrict__ means,
                                           float* __restrict__ variances, long long columns, long long x_row) {
    __shared__ float partial[32];
    const float mean = means[blockIdx.x];
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < columns / WIDTH; i += THREADS) {
        float value[WIDTH];
        load<T, WIDTH>(x + blockIdx.x * x_row, i, value);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            sum += (value[k] - mean) * (value[k] - mean);
        }
    }
    sum = row_reduce<Sum, THREADS>(sum, partial);
    if (threadIdx.x == 0) {
        variances[blockIdx.x] = sum / columns;
    }
}

template <typename T, int WIDTH, int THREADS>
__global__ void layernorm_unfused_scale(const T* __restrict__ x, const T* __restrict__ weight,
                                        const T* __restrict__ bias, const float* __restrict__ means,
                                        const float* __restrict__ variances, T* __restrict__ y, long long columns,
                                        long long x_row, long long y_row, float eps) {
    const float mean = means[blockIdx.x];
    const float scale = rsqrtf(variances[blockIdx.x] + eps);
    for (long long i = threadIdx.x; i < columns / WIDTH; i += THREADS) {
        float value[WIDTH], factor[WIDTH], shift[WIDTH];
        load<T, WIDTH>(x + blockIdx.x * x_row, i, value);
        load<T, WIDTH>(weight, i, factor);
        load<T, WIDTH>(bias, i, shift);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            value[k] = (value[k] - mean) * scale * factor[k] + shift[k];
        }
        store<T, WIDTH>(y + blockIdx.x * y_row, i, value);
    }
}
