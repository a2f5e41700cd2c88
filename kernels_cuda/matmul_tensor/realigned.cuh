// Chunks that lie across 16-byte boundaries: a thread reads the two aligned packs that its chunk lies in and shifts the
// chunk out of them. Every byte then comes in a 128-bit load, though half of them twice, out of the level-1 cache. The
// packs wait in registers while the tiles before theirs are multiplied.

#pragma once

#include "loaders.cuh"

template <typename T>
struct Packs {
    static constexpr int WIDTH = CHUNK / sizeof(T);
    uint4 low, high;
    int phase;  // bytes from the start of `low` to that of the chunk

    // The chunk at element `at` of a row (or line) of `length` of which `elements` count; zeros stand for the others.
    // Packs that reach beyond the row are somebody else's memory, so that there elements are read one by one.
    __device__ void read(const T* row, long long at, long long length, int elements) {
        const char* start = reinterpret_cast<const char*>(row + at);
        phase = static_cast<int>(reinterpret_cast<unsigned long long>(start) % CHUNK);
        const int before = phase / static_cast<int>(sizeof(T)), packs = phase ? 2 : 1;
        if (elements == WIDTH && at >= before && at - before + packs * WIDTH <= length) {
            const uint4* pack = reinterpret_cast<const uint4*>(start - phase);
            low = pack[0];
            high = pack[packs - 1];
        } else {
            phase = 0;
            T element[WIDTH];
#pragma unroll
            for (int e = 0; e < WIDTH; ++e) {
                element[e] = e < elements ? row[at + e] : T{};
            }
            memcpy(&low, element, sizeof(low));
            high = low;
        }
    }

    __device__ uint4 chunk() const {
        unsigned word[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
        const bool two = phase & 8, one = phase & 4;
#pragma unroll
        for (int w = 0; w < 6; ++w) {
            word[w] = two ? word[w + 2] : word[w];
        }
#pragma unroll
        for (int w = 0; w < 5; ++w) {
            word[w] = one ? word[w + 1] : word[w];
        }
        const unsigned bits = phase % 4 * 8;
        return make_uint4(__funnelshift_r(word[0], word[1], bits), __funnelshift_r(word[1], word[2], bits),
                          __funnelshift_r(word[2], word[3], bits), __funnelshift_r(word[3], word[4], bits));
    }
};

template <bool ASYNC, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::REALIGNED_K, ASYNC, T, LINES, LINE_BYTES, THREADS> {
    static constexpr int ACROSS = LINE_BYTES / CHUNK, WIDTH = CHUNK / sizeof(T), DEPTH = LINE_BYTES / sizeof(T);
    static constexpr int PASS = THREADS / ACROSS, PASSES = LINES / PASS;  // lines at a time
    static_assert(PASSES * PASS == LINES && PASS % 8 == 0, "all passes of a thread have the same swizzle");
    const Operand<T> x;
    const long long first;
    Packs<T> packs[PASSES];

    __device__ Loader(const Operand<T>& x, long long first) : x(x), first(first + threadIdx.x / ACROSS) {}

    __device__ void begin(unsigned char*, int step) {
        const long long k = static_cast<long long>(step) * DEPTH + threadIdx.x % ACROSS * WIDTH, last = x.lines - 1;
        const int elements = clipped<WIDTH>(x.k - k);
#pragma unroll
        for (int p = 0; p < PASSES; ++p) {
            const long long here = first + p * PASS;
            packs[p].read(x.first + (here < last ? here : last) * x.next_line, k, x.k, elements);
        }
    }

    __device__ void finish(unsigned char* tile) {
        const int to = swizzled<LINE_BYTES>(threadIdx.x / ACROSS, threadIdx.x % ACROSS);
#pragma unroll
        for (int p = 0; p < PASSES; ++p) {
            *reinterpret_cast<uint4*>(tile + to + p * PASS * LINE_BYTES) = packs[p].chunk();
        }
    }
};

template <bool ASYNC, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::REALIGNED_LINES, ASYNC, T, LINES, LINE_BYTES, THREADS> {
    static constexpr int WIDTH = CHUNK / sizeof(T), DEPTH = LINE_BYTES / sizeof(T), ACROSS = LINES / WIDTH;
    static constexpr int PASS = THREADS / ACROSS, PASSES = DEPTH / PASS;  // rows at a time
    static_assert(PASSES * PASS == DEPTH, "every thread brings as many chunks");
    const Operand<T> x;
    const long long line;
    Packs<T> packs[PASSES];

    __device__ Loader(const Operand<T>& x, long long first) : x(x), line(first + threadIdx.x % ACROSS * WIDTH) {}

    __device__ void begin(unsigned char*, int step) {
        const int elements = clipped<WIDTH>(x.lines - line);
#pragma unroll
        for (int p = 0; p < PASSES; ++p) {
            const long long here = static_cast<long long>(step) * DEPTH + threadIdx.x / ACROSS + p * PASS;
            packs[p].read(x.first + here * x.next_k, line, x.lines, here < x.k ? elements : 0);
        }
    }

    __device__ void finish(unsigned char* tile) {
#pragma unroll
        for (int p = 0; p < PASSES; ++p) {
            const int row = threadIdx.x / ACROSS + p * PASS;
            *reinterpret_cast<uint4*>(tile + swizzled_row<T, LINES>(row, threadIdx.x % ACROSS)) = packs[p].chunk();
        }
    }
};
