// y = softmax of each row of x for rows of any length: a block reads its row twice, the second time backwards, so that
// what it read last is still in a cache. The first pass keeps a running maximum and rescales its sum when that grows
// (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).

#include "_online.cuh"

template <typename T, int WIDTH, int THREADS>
__global__ void softmax_fused_looped(const T* __restrict__ x, T* __restrict__ y, long long columns, long long x_row,
                                     long long y_row) {
    __shared__ float maxima[32], sums[32];
    constexpr int UNROLL = 4;    // loads in flight per thread
    constexpr int CHUNK = 1024;  // words of a thread whose sum is one chain
    const long long words = columns / WIDTH;
    const long long tiled = words / (UNROLL * THREADS) * (UNROLL * THREADS);
    const T* x_in = x + blockIdx.x * x_row;
    T* y_out = y + blockIdx.x * y_row;

    Online online;
    for (long long start = threadIdx.x; start < tiled; start += CHUNK * THREADS) {
        const T* from = x_in + start * WIDTH;
        const int end = static_cast<int>(min(tiled - start, static_cast<long long>(CHUNK * THREADS)));
        Online part;  // of a chunk: one chain would lose what is small against all of a row of millions
        for (int i = 0; i < end; i += UNROLL * THREADS) {
            float value[UNROLL][WIDTH];
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                load<T, WIDTH>(from, i + u * THREADS, value[u]);
            }
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                part.add(value[u]);
            }
        }
        online.join(part);
    }
    for (long long i = tiled + threadIdx.x; i < words; i += THREADS) {
        float value[WIDTH];
        load<T, WIDTH>(x_in, i, value);
        online.add(value);
    }
    online.reduce<THREADS>(maxima, sums);

    const float shift = shift_of(online.largest);
    const float scale = 1.0f / online.sum;
    for (long long i = tiled + threadIdx.x; i < words; i += THREADS) {
        float value[WIDTH];
        load<T, WIDTH>(x_in, i, value);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            value[k] = __expf(value[k] - shift) * scale;
        }
        store<T, WIDTH>(y_out, i, value);
    }
    for (long long i = tiled - UNROLL * THREADS + threadIdx.x; i >= 0; i -= UNROLL * THREADS) {
        float value[UNROLL][WIDTH];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            load<T, WIDTH>(x_in, i + u * THREADS, value[u]);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
#pragma unroll
            for (int k = 0; k < WIDTH; ++k) {
                value[u][k] = __expf(value[u][k] - shift) * scale;
            }
            store<T, WIDTH>(y_out, i + u * THREADS, value[u]);
        }
    }
}
