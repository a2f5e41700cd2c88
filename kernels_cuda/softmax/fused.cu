// y = softmax of each row of x in one kernel: a row is read once and kept in registers until it is written.
//
// A row belongs to THREADS threads: a warp or a part of it, with several rows in a block, or a whole block. A warp's
// exponentials are relative to its own largest element, so that the warps of a block meet once, with both results, and
// not twice: 129.3 in place of 131.4 us (8192 x 8192 f32 on an H200).

#include "_online.cuh"

template <typename T, int WIDTH, int THREADS, int WORDS, bool STREAMED>
__global__ void softmax_fused(const T* __restrict__ x, T* __restrict__ y, long long rows, int columns, long long x_row,
                              long long y_row) {
    __shared__ Share shares[32];
    const long long row = static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y;
    x = roofline::evict_last<STREAMED>(x);
    if (THREADS >= 32 && row >= rows) {
        return;  // a whole warp; blocks of one row never come here
    }
    const int words = row < rows ? columns / WIDTH : 0;  // all lanes of a warp take part in its reductions

    float value[WORDS][WIDTH];
    float largest = -CUDART_INF_F;
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
        const int i = w * THREADS + threadIdx.x;
        if (i < words) {
            load<T, WIDTH>(x + row * x_row, i, value[w]);
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
    largest = warp_reduce<Max, LANES<THREADS>>(largest);

    const float shift = shift_of(largest);
    float sum = 0.0f;
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            value[w][k] = __expf(value[w][k] - shift);
            sum += value[w][k];
        }
    }
    Share share{largest, warp_reduce<Sum, LANES<THREADS>>(sum)};
    if constexpr (THREADS > 32) {  // a part of a warp has nothing to join
        if (threadIdx.x % 32 == 0) {
            shares[threadIdx.x / 32] = share;
        }
        __syncthreads();
        share = joined<THREADS / 32>(shares);
    }
    const float scale = __expf(largest - shift_of(share.largest)) / share.sum;

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

// Calls use(word, i) for `count` words of this thread, STEP apart from number `i` on, with four loads in flight.
template <int STEP, typename Use>
__device__ void each_word(const uint4* __restrict__ words, int i, int count, Use use) {
    for (; count >= 4; count -= 4, i += 4 * STEP) {
        uint4 word[4];
#pragma unroll
        for (int u = 0; u < 4; ++u) {
            word[u] = words[i + u * STEP];
        }
#pragma unroll
        for (int u = 0; u < 4; ++u) {
            use(word[u], i + u * STEP);
        }
    }
    for (; count > 0; --count, i += STEP) {
        use(words[i], i);
    }
}

// Rows that registers alone cannot hold, one per block: a thread keeps its first HELD words in registers and the next
// `stored` in shared memory; only what is left is read a second time, from L2 and last in, first out.
template <typename T, int THREADS, int HELD>
__global__ void __launch_bounds__(THREADS)
    softmax_fused_long(const T* __restrict__ x, T* __restrict__ y, int columns, long long x_row, long long y_row,
                       int stored) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T);
    extern __shared__ uint4 kept[];
    __shared__ float maxima[32], sums[32];
    const uint4* x_in = reinterpret_cast<const uint4*>(x + blockIdx.x * x_row);
    T* y_out = y + blockIdx.x * y_row;
    const int first = threadIdx.x;
    const int mine = (columns / WIDTH + THREADS - 1 - first) / THREADS;  // words of this thread
    const int near = min(max(mine - HELD, 0), stored);                   // of them in shared memory
    const int far = max(mine - HELD - stored, 0);                        // of them read twice
    Online online;

    uint4 held[HELD];
#pragma unroll
    for (int w = 0; w < HELD; ++w) {
        held[w] = w < mine ? x_in[w * THREADS + first] : make_uint4(0, 0, 0, 0);
    }
    const auto add = [&](uint4 word, int) {
        float value[WIDTH];
        unpack<T, WIDTH>(word, value);
        online.add(value);
    };
    each_word<THREADS>(x_in, HELD * THREADS + first, near, [&](uint4 word, int i) {
        kept[i - HELD * THREADS] = word;
        add(word, i);
    });
#pragma unroll
    for (int w = 0; w < HELD; ++w) {
        if (w < mine) {
            add(held[w], w);
        }
    }
    each_word<THREADS>(x_in, (HELD + stored) * THREADS + first, far, add);
    online.reduce<THREADS>(maxima, sums);

    const float shift = shift_of(online.largest);
    const float scale = 1.0f / online.sum;
    const auto write = [&](uint4 word, int i) {
        float value[WIDTH];
        unpack<T, WIDTH>(word, value);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            value[k] = __expf(value[k] - shift) * scale;
        }
        store<T, WIDTH>(y_out, i, value);
    };
    each_word<-THREADS>(x_in, (HELD + stored + far - 1) * THREADS + first, far, write);
#pragma unroll
    for (int w = 0; w < HELD; ++w) {
        if (w < mine) {
            write(held[w], w * THREADS + first);
        }
    }
    for (int w = 0; w < near; ++w) {
        write(kept[w * THREADS + first], (HELD + w) * THREADS + first);
    }
}
