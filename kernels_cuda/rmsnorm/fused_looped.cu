// y = x / sqrt(mean of x^2 + eps) * weight for rows of any length: a block reads its row twice, the second time
// backwards, so that what it read last is still in a cache.

#include "../_rowwise.cuh"

template <typename T, int WIDTH, int THREADS>
__global__ void rmsnorm_fused_looped(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y,
                                     long long columns, long long x_row, long long y_row, float eps) {
    __shared__ float squares[32];
    const long long words = columns / WIDTH;
    const T* x_in = x + blockIdx.x * x_row;
    T* y_out = y + blockIdx.x * y_row;

    const auto square = [](float value) { return value * value; };
    const float sum = long_sum<float, T, WIDTH, THREADS>(x_in, words, square);
    const float scale = rsqrtf(row_reduce<Sum, THREADS>(sum, squares) / columns + eps);

    const long long last = (words + THREADS - 1 - static_cast<int>(threadIdx.x)) / THREADS - 1;  // -1 without a word
#pragma unroll 4
    for (long long i = last * THREADS + threadIdx.x; i >= 0; i -= THREADS) {
        float value[WIDTH], factor[WIDTH];
        load<T, WIDTH>(x_in, i, value);
        load<T, WIDTH>(weight, i, factor);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            value[k] = value[k] * scale * factor[k];
        }
        store<T, WIDTH>(y_out, i, value);
    }
}
