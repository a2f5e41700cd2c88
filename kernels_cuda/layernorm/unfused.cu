// y = (x - mean) / sqrt(variance + eps) * weight + bias for each row of x, as three kernels that each read x again:
// mean, variance (of the deviations, so that a large mean cancels nothing) and what the mean lacked, result.

#include "_deviations.cuh"

template <typename T, int WIDTH, int THREADS>
__global__ void layernorm_unfused_mean(const T* __restrict__ x, float* __restrict__ means, long long columns,
                                       long long x_row) {
    __shared__ float partial[32];
    const auto itself = [](float value) { return value; };
    float sum = long_sum<float, T, WIDTH, THREADS>(x + blockIdx.x * x_row, columns / WIDTH, itself);
    sum = row_reduce<Sum, THREADS>(sum, partial);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = sum / columns;
    }
}

template <typename T, int WIDTH, int THREADS>
__global__ void layernorm_unfused_variance(const T* __restrict__ x, float* __restrict__ means,
                                           float* __restrict__ variances, long long columns, long long x_row) {
    __shared__ Deviations partial[32];
    const float mean = means[blockIdx.x];
    const auto deviation = [mean](float value) {
        Deviations one{0.0f, 0.0f};
        one.add(value - mean);
        return one;
    };
    const T* row = x + blockIdx.x * x_row;
    const Deviations deviations = long_sum<Deviations, T, WIDTH, THREADS>(row, columns / WIDTH, deviation);
    const Corrected found = corrected<THREADS>(deviations, partial, columns);  // after its barrier nobody needs the mean
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean + found.mean;
        variances[blockIdx.x] = found.variance;
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
