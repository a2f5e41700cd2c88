// Chunks that lie across 16-byte boundaries: a thread reads the two aligned packs that its chunk lies in and shifts the
// chunk out of them. Every byte then comes in a 128-bit load, though half of them twice, out of the level-1 cache. The
// packs wait in registers while a tile before theirs is multiplied.

#pragma once

#include "loaders.cuh"

template <typename T>
struct Packs {
    static constexpr int WIDTH = CHUNK / sizeof(T), APART = -1;
    unsigned word[8];
    int phase;  // bytes from the start of the packs to that of the chunk; APART: its elements have a word each

    // A chunk whose two packs belong to its row.
    __device__ void read(const T* from) {
        const char* start = reinterpret_cast<const char*>(from);
        phase = static_cast<int>(reinterpret_cast<unsigned long long>(start) % CHUNK);
        const uint4* pack = reinterpret_cast<const uint4*>(start - phase);
        const uint4 low = pack[0], high = pack[1];
        word[0] = low.x, word[1] = low.y, word[2] = low.z, word[3] = low.w;
        word[4] = high.x, word[5] = high.y, word[6] = high.z, word[7] = high.w;
    }

    // A chunk at the edge of its row: of the packs around it a part may be somebody else's. The elements wait as they
    // came, because to join them here would be to wait for them here.
    __device__ void read_edge(const T* from, int elements) {
        if constexpr (sizeof(T) == 1) {
            phase = 0;
#pragma unroll
            for (int w = 0; w < 8; ++w) {
                word[w] = 0;
#pragma unroll
                for (int e = 0; e < 4 && w < 4; ++e) {
                    word[w] |= (4 * w + e < elements ? bits(from + 4 * w + e) : 0u) << 8 * e;
                }
            }
        } else {
            phase = APART;
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                word[e] = e < elements ? bits(from + e) : 0u;
            }
        }
    }

    __device__ uint4 chunk() const {
        if (sizeof(T) == 2 && phase == APART) {
            return make_uint4(word[0] | word[1] << 16, word[2] | word[3] << 16, word[4] | word[5] << 16,
                              word[6] | word[7] << 16);
        }
        unsigned shifted[8];
        const bool two = phase > 0 && phase & 8, one = phase > 0 && phase & 4;
#pragma unroll
        for (int w = 0; w < 6; ++w) {
            shifted[w] = two ? word[w + 2] : word[w];
        }
#pragma unroll
        for (int w = 0; w < 5; ++w) {
            shifted[w] = one ? shifted[w + 1] : shifted[w];
        }
        const unsigned bits = phase > 0 ? phase % 4 * 8 : 0;
        return make_uint4(__funnelshift_r(shifted[0], shifted[1], bits), __funnelshift_r(shifted[1], shifted[2], bits),
                          __funnelshift_r(shifted[2], shifted[3], bits), __funnelshift_r(shifted[3], shifted[4], bits));
    }

private:
    static __device__ unsigned bits(const T* element) {
        if constexpr (sizeof(T) == 1) {
            return *reinterpret_cast<const unsigned char*>(element);
        } else if constexpr (sizeof(T) == 2) {
            return *reinterpret_cast<const unsigned short*>(element);
        } else {
            return *reinterpret_cast<const unsigned*>(element);
        }
    }
};

template <bool ASYNC, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::REALIGNED_K, ASYNC, T, LINES, LINE_BYTES, THREADS> {
    static constexpr int ACROSS = LINE_BYTES / CHUNK, WIDTH = CHUNK / sizeof(T), DEPTH = LINE_BYTES / sizeof(T);
    static constexpr int PASS = THREADS / ACROSS, PASSES = LINES / PASS;  // lines at a time
    static_assert(PASSES * PASS == LINES && PASS % 8 == 0, "all passes of a thread have the same swizzle");
    static constexpr bool FAST = false, HELD = true;
    Operand<T> x;
    long long first;
    Packs<T> packs[PASSES];

    __device__ Loader(const Operand<T>& x, long long first) : x(x), first(first + threadIdx.x / ACROSS) {}

    __device__ const T* line(int pass) const {
        const long long here = first + pass * PASS, last = x.lines - 1;
        return x.first + (here < last ? here : last) * x.next_line;
    }

    __device__ int whole() const { return 0; }
    __device__ void seek(int) {}
    __device__ void advance() {}

    __device__ void begin(unsigned char*, int step, int part, int parts) {
        const long long start = static_cast<long long>(step) * DEPTH, k = start + threadIdx.x % ACROSS * WIDTH;
        if (start >= WIDTH && start + DEPTH + WIDTH <= x.k) {  // for all threads alike
#pragma unroll
            for (int p = part; p < PASSES; p += parts) {
                packs[p].read(line(p) + k);
            }
        } else {
            const int elements = clipped<WIDTH>(x.k - k);
#pragma unroll
            for (int p = part; p < PASSES; p += parts) {
                packs[p].read_edge(line(p) + k, elements);
            }
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
    static constexpr bool FAST = false, HELD = true;
    Operand<T> x;
    long long line;
    int elements;
    Packs<T> packs[PASSES];

    __device__ Loader(const Operand<T>& x, long long first)
        : x(x), line(first + threadIdx.x % ACROSS * WIDTH), elements(clipped<WIDTH>(x.lines - line)) {}

    __device__ int whole() const { return 0; }
    __device__ void seek(int) {}
    __device__ void advance() {}

    __device__ void begin(unsigned char*, int step, int part, int parts) {
        const long long start = static_cast<long long>(step) * DEPTH;
        const T* from = x.first + (start + threadIdx.x / ACROSS) * x.next_k + line;
        if (line >= WIDTH && line + 2 * WIDTH <= x.lines && start + DEPTH <= x.k) {
#pragma unroll
            for (int p = part; p < PASSES; p += parts) {
                packs[p].read(from + p * PASS * x.next_k);
            }
        } else {
#pragma unroll
            for (int p = part; p < PASSES; p += parts) {
                const bool inside = start + threadIdx.x / ACROSS + p * PASS < x.k;
                packs[p].read_edge(from + p * PASS * x.next_k, inside ? elements : 0);
            }
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
