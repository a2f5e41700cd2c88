// y = softmax of each row of x for rows that no multiprocessor can hold: a cluster of blocks on neighbouring ones shares
// a row, so that it is read once. A warp reduces what its threads keep, in registers and in shared memory, and sends its
// largest element and its sum to every block of the cluster: the only meeting. Hopper's, and for rows of whole 16-byte
// words.

#include "../matmul_tensor/hopper.cuh"
#include "_online.cuh"

// Into the shared memory of block `rank` of the cluster, at the place that `share` has in this one.
__device__ __forceinline__ void send(Share* share, unsigned rank, float largest, float sum) {
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "st.shared::cluster.v2.f32 [remote], {%2, %3};\n"
        "}" ::"r"(shared_address(share)),
        "r"(rank), "f"(largest), "f"(sum)
        : "memory");
}

// So many words of a thread, a block apart.
template <int COUNT>
struct Stored {
    uint4* first;
};

__device__ __forceinline__ void load_async(uint4* to, const uint4* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

// Calls use(word, w) for the words of this thread: those in its registers, and those in its part of `stored`.
template <int THREADS, int HELD, int STORED, typename Use>
__device__ __forceinline__ void each_word(const uint4 (&held)[HELD], Stored<STORED> stored, int words, Use use) {
#pragma unroll
    for (int w = 0; w < HELD; ++w) {
        if (w * THREADS < words) {
            use(held[w], w);
        }
    }
#pragma unroll
    for (int w = 0; w < STORED; ++w) {
        if ((HELD + w) * THREADS < words) {
            use(stored.first[w * THREADS], HELD + w);
        }
    }
}

template <typename T, int CLUSTER, int THREADS, int HELD, int STORED, int BLOCKS, bool STREAMED>
__global__ void __launch_bounds__(THREADS, BLOCKS) __cluster_dims__(CLUSTER, 1, 1)
    softmax_fused_cluster(const T* __restrict__ x, T* __restrict__ y, int columns, long long x_row, long long y_row) {
    constexpr int WIDTH = sizeof(uint4) / sizeof(T), WARPS = THREADS / 32, SHARES = CLUSTER * WARPS;
    extern __shared__ uint4 stored[];
    __shared__ Share shares[SHARES];
    asm volatile("barrier.cluster.arrive.relaxed.aligned;");  // that all blocks run is asked for below

    const long long row = blockIdx.x / CLUSTER;
    const int rank = cluster_rank(), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int each = (columns / WIDTH + CLUSTER - 1) / CLUSTER;  // words of a block
    const int first = rank * each + threadIdx.x;
    const int words = min(columns / WIDTH - first, each - static_cast<int>(threadIdx.x));  // from this thread's first on
    const uint4* from = reinterpret_cast<const uint4*>(roofline::evict_last<STREAMED>(x) + row * x_row) + first;
    T* to = y + row * y_row + static_cast<long long>(first) * WIDTH;

    uint4 held[HELD];
    const Stored<STORED> kept{stored + threadIdx.x};
#pragma unroll
    for (int w = 0; w < STORED; ++w) {
        if ((HELD + w) * THREADS < words) {
            load_async(kept.first + w * THREADS, from + (HELD + w) * THREADS);
        }
    }
#pragma unroll
    for (int w = 0; w < HELD; ++w) {
        held[w] = w * THREADS < words ? from[w * THREADS] : make_uint4(0, 0, 0, 0);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");

    float largest = -CUDART_INF_F;
    each_word<THREADS>(held, kept, words, [&](uint4 word, int) {
        float value[WIDTH];
        unpack<T, WIDTH>(word, value);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            largest = fmaxf(largest, value[k]);
        }
    });
    largest = warp_reduce<Max>(largest);
    float shift = shift_of(largest);
    float sum = 0.0f;
    each_word<THREADS>(held, kept, words, [&](uint4 word, int) {
        float value[WIDTH];
        unpack<T, WIDTH>(word, value);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            sum += __expf(value[k] - shift);
        }
    });
    sum = warp_reduce<Sum>(sum);

    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (lane < CLUSTER) {
        send(shares + rank * WARPS + warp, lane, largest, sum);
    }
    cluster_sync();
    const Share all = joined<SHARES>(shares);
    shift = shift_of(all.largest);
    const float scale = 1.0f / all.sum;
    each_word<THREADS>(held, kept, words, [&](uint4 word, int w) {
        float value[WIDTH];
        unpack<T, WIDTH>(word, value);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) {
            value[k] = __expf(value[k] - shift) * scale;
        }
        store<T, WIDTH>(to, w * THREADS, value);
    });
}
