// y = x / sqrt(mean of x^2 + eps) * weight for each row of x, as two kernels that each read x.

#include "../_rowwise.cuh"

template <typename T, int WIDTH, int THREADS>
__global__ void rmsnorm_unfused_square(const T* __restrict__ x, float* __restrict__ squares, long long columns,
                                       long long x_row) {
    __shared__ float partial[32];
    const auto square = [](float value) { return value * value; };
    float sum = long_sum<float, T, WIDTH, THREADS>(x + blockIdx.x * x_row, columns / WIDTH, square);
    sum = row_reduce<Sum, THREADS>(sum, partial);
    if (threadIdx.x == 0) {
        squares[blockIdx.x] = sum / columns;
    }
}

template <typename T, int WIDTH, int THREADS>
__global__ void rmsnorm_unfused_scale(const T* __restrict__ x, const T* __restrict__ weight,
                                      const float* __restrict__ squares, T* __restrict__ y, long long columns,
                                      long long x_row, long long y_row, float eps) {
    const float scale = rsqrtf(squares[blockIdx.x] + eps);
    for (long long i = threadIdx.x; i < columns / WIDTH; i += THREADS) {
        float value[WIDTH], factor[WIDTH];
        load<T, WIDTH>(x + blockIdx.x * x_row, i, value);
        load<T, WIDTH>(weight, i, factor);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            value[k] = value[k] * scale * factor[k];
        }
        store<T, WIDTH>(y + blockIdx.x * y_row, i, value);
    }
}
