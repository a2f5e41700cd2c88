// Tiles of a and b on their way into shared memory.
//
// An operand is seen as lines along k: the rows of a, the columns of b. A tile holds LINE_BYTES of each of its lines. Its
// 16-byte chunks are permuted within every 128 bytes by the line, so that the eight rows of a matrix that ldmatrix reads,
// one chunk of each line, lie in all 32 banks.

#pragma once

#include <roofline/async_copy.cuh>

#include "formats.cuh"

constexpr int CHUNK = 16;  // bytes of the widest access

template <typename T>
struct Operand {
    const T* first;
    long long next_line, next_k;  // elements from one line, or one k, to the next
    int lines, k;
};

// How an operand lies in memory. Its chunks are aligned pieces of lines (ALONG_K) or hold one k of several lines
// (ALONG_LINES: b by rows, and then a tile has a row for each k); REALIGNED if not all of them are aligned.
enum class Access { ALONG_K, ALONG_LINES, REALIGNED_K, REALIGNED_LINES, SCATTERED };

constexpr __device__ bool by_rows(Access access) {
    return access == Access::ALONG_LINES || access == Access::REALIGNED_LINES;
}

// Where a chunk of a line of BYTES lies in a tile.
template <int BYTES>
__device__ int swizzled(int line, int chunk) {
    constexpr int TOGETHER = BYTES < 128 ? 128 / BYTES : 1;  // lines in one row of the banks
    constexpr int ACROSS = BYTES < 128 ? BYTES / CHUNK : 8;
    return line * BYTES + (chunk ^ (line / TOGETHER % ACROSS)) * CHUNK;
}

// Where a chunk of a row of b lies: ldmatrix reads eight rows of 16-bit elements, and a warp four of two chunks of others.
template <typename T, int LINES>
__device__ int swizzled_row(int row, int chunk) {
    constexpr int BYTES = LINES * sizeof(T);
    return sizeof(T) == 2 ? swizzled<BYTES>(row, chunk) : row * BYTES + (chunk ^ (2 * (row % 4))) * CHUNK;
}

// Copies the first `elements` of a chunk and zeros after them; asynchronously past the registers or through them.
template <bool ASYNC, typename T>
__device__ void copy_chunk(unsigned char* to, const T* from, int elements) {
    constexpr int WIDTH = CHUNK / sizeof(T);
    if (ASYNC) {
        roofline::copy_async<CHUNK>(to, from, elements * static_cast<int>(sizeof(T)));
    } else if (elements == WIDTH) {
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
    } else {
        for (int e = 0; e < WIDTH; ++e) {
            reinterpret_cast<T*>(to)[e] = e < elements ? from[e] : T{};
        }
    }
}

// How many of WIDTH elements are left.
template <int WIDTH>
__device__ int clipped(long long left) {
    return static_cast<int>(min(max(left, 0ll), static_cast<long long>(WIDTH)));
}

// What one thread brings of LINES lines, from line `first` of the operand on. After seek(step), tiles follow each other along
// k: begin(tile, step, part, parts) starts a part of one, finish(tile) stores what is still in registers when all parts
// are, and advance() goes on to the next. In the tiles before step whole() nothing lies outside of the operand; where FAST,
// begin_whole(tile, part, parts) does without a look at that.
template <Access ACCESS, bool ASYNC, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader;

template <bool ASYNC, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::ALONG_K, ASYNC, T, LINES, LINE_BYTES, THREADS> {
    static constexpr bool FAST = ASYNC;
    static constexpr int ACROSS = LINE_BYTES / CHUNK, WIDTH = CHUNK / sizeof(T), DEPTH = LINE_BYTES / sizeof(T);
    static constexpr int PASS = THREADS / ACROSS, PASSES = LINES / PASS;  // lines at a time
    static_assert(PASSES * PASS == LINES && PASS % 8 == 0, "all passes of a thread have the same swizzle");
    const T* from[PASSES];  // of the next tile
    int to, k;

    __device__ Loader(const Operand<T>& x, long long first) : k(x.k) {
        const int line = threadIdx.x / ACROSS, chunk = threadIdx.x % ACROSS;
#pragma unroll
        for (int p = 0; p < PASSES; ++p) {
            // Lines past the last repeat it: what becomes of them is not stored.
            const long long here = first + line + p * PASS, last = x.lines - 1;
            from[p] = x.first + (here < last ? here : last) * x.next_line + chunk * WIDTH;
        }
        to = swizzled<LINE_BYTES>(line, chunk);
    }

    __device__ int whole() const { return k / DEPTH; }

    __device__ void seek(int step) {
#pragma unroll
        for (int p = 0; p < PASSES; ++p) {
            from[p] += static_cast<long long>(step) * DEPTH;
        }
    }

    __device__ void begin(unsigned char* tile, int step, int part, int parts) {
        const int left = k - step * DEPTH - threadIdx.x % ACROSS * WIDTH, elements = min(max(left, 0), WIDTH);
        if (!ASYNC && elements == WIDTH) {
            through_registers(tile, part, parts);
            return;
        }
#pragma unroll
        for (int p = part; p < PASSES; p += parts) {
            copy_chunk<ASYNC>(tile + to + p * PASS * LINE_BYTES, from[p], elements);
        }
    }

    // All loads are in flight before the first of them is stored, which the compiler does not see that it may do.
    __device__ void through_registers(unsigned char* tile, int part, int parts) {
        uint4 chunks[PASSES];
#pragma unroll
        for (int p = part; p < PASSES; p += parts) {
            chunks[p] = *reinterpret_cast<const uint4*>(from[p]);
        }
#pragma unroll
        for (int p = part; p < PASSES; p += parts) {
            *reinterpret_cast<uint4*>(tile + to + p * PASS * LINE_BYTES) = chunks[p];
        }
    }

    __device__ void begin_whole(unsigned char* tile, int part, int parts) {
#pragma unroll
        for (int p = part; p < PASSES; p += parts) {
            roofline::copy_async<CHUNK>(tile + to + p * PASS * LINE_BYTES, from[p]);
        }
    }

    __device__ void advance() {
#pragma unroll
        for (int p = 0; p < PASSES; ++p) {
            from[p] += DEPTH;
        }
    }

    __device__ void finish(unsigned char*) {}
};

template <bool ASYNC, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::ALONG_LINES, ASYNC, T, LINES, LINE_BYTES, THREADS> {
    static constexpr bool FAST = ASYNC && sizeof(T) == 2;  // of others the registers of addresses are too many
    static constexpr int WIDTH = CHUNK / sizeof(T), DEPTH = LINE_BYTES / sizeof(T), ACROSS = LINES / WIDTH;
    static constexpr int PASS = THREADS / ACROSS, PASSES = DEPTH / PASS;  // rows at a time
    static_assert(PASSES * PASS == DEPTH, "every thread brings as many chunks");
    const T* from;  // of the next tile
    long long next;
    int elements, k;
    bool inside;  // all columns of the tile

    __device__ Loader(const Operand<T>& x, long long first) : next(x.next_k), k(x.k) {
        const long long line = first + threadIdx.x % ACROSS * WIDTH;
        from = x.first + threadIdx.x / ACROSS * x.next_k + line;
        elements = clipped<WIDTH>(x.lines - line);
        inside = first + LINES <= x.lines;
    }

    __device__ int whole() const { return inside ? k / DEPTH : 0; }
    __device__ void seek(int step) { from += static_cast<long long>(step) * DEPTH * next; }

    __device__ void begin(unsigned char* tile, int step, int part, int parts) {
#pragma unroll
        for (int p = part; p < PASSES; p += parts) {
            const bool exists = step * DEPTH + p * PASS + static_cast<int>(threadIdx.x) / ACROSS < k;
            copy_chunk<ASYNC>(tile + to(p), from + p * PASS * next, exists ? elements : 0);
        }
    }

    __device__ void begin_whole(unsigned char* tile, int part, int parts) {
#pragma unroll
        for (int p = part; p < PASSES; p += parts) {
            roofline::copy_async<CHUNK>(tile + to(p), from + p * PASS * next);
        }
    }

    static __device__ int to(int pass) {
        return swizzled_row<T, LINES>(threadIdx.x / ACROSS + pass * PASS, threadIdx.x % ACROSS);
    }

    __device__ void advance() { from += DEPTH * next; }
    __device__ void finish(unsigned char*) {}
};

// Element by element, for any strides; the tile is one along k.
template <bool ASYNC, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::SCATTERED, ASYNC, T, LINES, LINE_BYTES, THREADS> {
    static constexpr int DEPTH = LINE_BYTES / sizeof(T), WIDTH = CHUNK / sizeof(T), BATCH = 8;  // loads in flight
    static_assert(LINES * DEPTH % (THREADS * BATCH) == 0, "every thread brings as many elements");
    static constexpr bool FAST = false;
    Operand<T> x;
    long long first, k;

    __device__ Loader(const Operand<T>& operand, long long first_line) : x(operand), first(first_line), k(0) {}

    __device__ int whole() const { return 0; }
    __device__ void seek(int) {}
    __device__ void advance() {}

    __device__ void begin(unsigned char*, int step, int, int) { k = static_cast<long long>(step) * DEPTH; }

    __device__ void finish(unsigned char* tile) {
        const bool along_k = x.next_k == 1;  // neighbouring threads take neighbours in memory
#pragma unroll 1
        for (int start = threadIdx.x; start < LINES * DEPTH; start += THREADS * BATCH) {
            T value[BATCH];
#pragma unroll
            for (int e = 0; e < BATCH; ++e) {
                const int i = start + e * THREADS, line = along_k ? i / DEPTH : i % LINES;
                const int deep = along_k ? i % DEPTH : i / LINES;
                const bool inside = first + line < x.lines && k + deep < x.k;
                value[e] = inside ? x.first[(first + line) * x.next_line + (k + deep) * x.next_k] : T{};
            }
#pragma unroll
            for (int e = 0; e < BATCH; ++e) {
                const int i = start + e * THREADS, line = along_k ? i / DEPTH : i % LINES;
                const int deep = along_k ? i % DEPTH : i / LINES;
                reinterpret_cast<T*>(tile + swizzled<LINE_BYTES>(line, deep / WIDTH))[deep % WIDTH] = value[e];
            }
        }
    }
};
