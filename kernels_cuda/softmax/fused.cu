// y = softmax of each row of x in one kernel: a row is read once and kept in registers until it is written.
//
// A row belongs to THREADS threads: a warp, with several rows in a block, or a whole block.

#include "../_rowwise.cuh"

template <typename T, int WIDTH, int THREADS, int WORDS>
__global__ void softmax_fused(const T* __restrict__ x, T* __restrict__ y, long long rows, int columns, long long x_row,
                              long long y_row) {
    __shared__ float maxima[32], sums[32];
    const long long row = static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;  // a whole warp; blocks of one row never come here
    }
    const int words = columns / WIDTH;

    float value[WORDS][WIDTH];
    float largest = -CUDART_INF_F;
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
        const int i = w * THREADS + threadIdx.x;
        if (i < words) {
            load_once<T, WIDTH>(x + row * x_row, i, value[w]);
        } else {
#pragma unroll
            for (int k = 0; k < WIDTH; ++k) {
                value[w][k] = -CUDART_INF_F;
            }
        }
    }
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            largest = fmaxf(largest, value[w][k]);
        }
    }
    largest = row_reduce<Max, THREADS>(largest, maxima);

    float sum = 0.0f;
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            value[w][k] = __expf(value[w][k] - largest);
            sum += value[w][k];
        }
    }
    const float scale = 1.0f / row_reduce<Sum, THREADS>(sum, sums);

#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
        const int i = w * THREADS + threadIdx.x;
        if (i < words) {
#pragma unroll
            for (int k = 0; k < WIDTH; ++k) {
                value[w][k] *= scale;
            }
            store<T, WIDTH>(y + row * y_row, i, value[w]);
        }
    }
}
