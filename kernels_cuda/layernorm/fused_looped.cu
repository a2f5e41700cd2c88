// y = (x - mean) / sqrt(variance + eps) * weight + bias for rows of any length: a block reads its row twice, the second
// time backwards, so that what it read last is still in a cache. The first pass updates mean and squared deviations
// element by element (Welford, "Note on a method for calculating corrected sums of squares and products", 1962): sums of
// x and of x^2 would cancel where the mean is large. All of it is relative to the row's first element, so that a large
// mean costs no digits either.

#include "../_rowwise.cuh"

template <typename T, int WIDTH>
__device__ void load_relative(const T* __restrict__ row, long long i, float origin, float (&value)[WIDTH]) {
    load<T, WIDTH>(row, i, value);
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) {
        value[k] -= origin;
    }
}

// WIDTH running means and sums of squared deviations, each over the same number of elements.
template <int WIDTH>
struct Moments {
    float count = 0.0f;
    float mean[WIDTH] = {};
    float squares[WIDTH] = {};

    __device__ void add(const float (&value)[WIDTH]) {
        count += 1.0f;
        const float share = 1.0f / count;
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            const float deviation = value[k] - mean[k];
            mean[k] += deviation * share;
            squares[k] += deviation * (value[k] - mean[k]);
        }
    }
};

template <typename T, int WIDTH, int THREADS>
__global__ void layernorm_fused_looped(const T* __restrict__ x, const T* __restrict__ weight,
                                       const T* __restrict__ bias, T* __restrict__ y, long long columns,
                                       long long x_row, long long y_row, float eps) {
    __shared__ float sums[32], squares[32];
    constexpr int UNROLL = 4;  // loads in flight per thread
    const long long words = columns / WIDTH;
    const long long tiled = words / (UNROLL * THREADS) * (UNROLL * THREADS);
    const T* x_in = x + blockIdx.x * x_row;
    T* y_out = y + blockIdx.x * y_row;
    const float origin = static_cast<float>(*x_in);

    Moments<WIDTH> moments;
    for (long long i = threadIdx.x; i < tiled; i += UNROLL * THREADS) {
        float value[UNROLL][WIDTH];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            load_relative<T, WIDTH>(x_in, i + u * THREADS, origin, value[u]);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            moments.add(value[u]);
        }
    }
    for (long long i = tiled + threadIdx.x; i < words; i += THREADS) {
        float value[WIDTH];
        load_relative<T, WIDTH>(x_in, i, origin, value);
        moments.add(value);
    }

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) {
        sum += moments.mean[k] * moments.count;
    }
    const float mean = row_reduce<Sum, THREADS>(sum, sums) / columns;
    float square = 0.0f;
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) {
        const float deviation = moments.mean[k] - mean;
        square += moments.squares[k] + (moments.count > 0.0f ? moments.count * deviation * deviation : 0.0f);
    }
    const float scale = rsqrtf(row_reduce<Sum, THREADS>(square, squares) / columns + eps);

    const long long last = (words + THREADS - 1 - static_cast<int>(threadIdx.x)) / THREADS - 1;  // -1 without a word
#pragma unroll 4
    for (long long i = last * THREADS + threadIdx.x; i >= 0; i -= THREADS) {
        float value[WIDTH], factor[WIDTH], shift[WIDTH];
        load_relative<T, WIDTH>(x_in, i, origin, value);
        load<T, WIDTH>(weight, i, factor);
        load<T, WIDTH>(bias, i, shift);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            value[k] = (value[k] - mean) * scale * factor[k] + shift[k];
        }
        store<T, WIDTH>(y_out, i, value);
    }
}
