// y = x / sqrt(mean of x^2 + eps) * weight for each row of x in one kernel: a row is read once and kept in registers until
// it is written.
//
// A row belongs to THREADS threads: a warp or a part of it, with several rows in a block, or a whole block.

#include "../_rowwise.cuh"

template <typename T, int WIDTH, int THREADS, int WORDS, bool STREAMED>
__global__ void rmsnorm_fused(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y, long long rows,
                              int columns, long long x_row, long long y_row, float eps) {
    __shared__ float squares[32];
    const long long row = static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y;
    x = roofline::evict_last<STREAMED>(x);
    if (THREADS >= 32 && row >= rows) {
        return;  // a whole warp; blocks of one row never come here
    }
    const int words = row < rows ? columns / WIDTH : 0;  // all lanes of a warp take part in its reductions

    float value[WORDS][WIDTH];
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
        const int i = w * THREADS + threadIdx.x;
        if (i < words) {
            load<T, WIDTH>(x + row * x_row, i, value[w]);
        } else {
#pragma unroll
            for (int k = 0; k < WIDTH; ++k) {
                value[w][k] = 0.0f;
            }
        }
    }
    float square = 0.0f;
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            square += value[w][k] * value[w][k];
        }
    }
    const float scale = rsqrtf(row_reduce<Sum, THREADS>(square, squares) / columns + eps);

#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
        const int i = w * THREADS + threadIdx.x;
        if (i < words) {
            float factor[WIDTH];
            load<T, WIDTH>(weight, i, factor);
#pragma unroll
            for (int k = 0; k < WIDTH; ++k) {
                value[w][k] = value[w][k] * scale * factor[k];
            }
            store<T, WIDTH>(y + row * y_row, i, value[w]);
        }
    }
}
