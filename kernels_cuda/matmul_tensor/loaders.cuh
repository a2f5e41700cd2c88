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
// (ALONG_LINES: b by rows, and then a tile has a row for each k; TURNED: the same in bytes, and the tile has lines);
// REALIGNED if not all of them are aligned.
enum class Access { ALONG_K, ALONG_LINES, TURNED, REALIGNED_K, REALIGNED_LINES, SCATTERED };

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
// are (HELD: all that was begun), and advance() goes on to the next. In the tiles before step whole() nothing lies outside
// of the operand; where FAST, begin_whole(tile, part, parts) does without a look at that.
template <Access ACCESS, bool ASYNC, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader;

template <bool ASYNC, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::ALONG_K, ASYNC, T, LINES, LINE_BYTES, THREADS> {
    static constexpr bool FAST = ASYNC, HELD = false;
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
    static constexpr bool HELD = false;
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

// Element by element, for any strides. A thread joins those of a chunk; neighbours have neighbouring lines, whose elements
// may lie side by side, and whose chunks lie in different banks.
template <bool ASYNC, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::SCATTERED, ASYNC, T, LINES, LINE_BYTES, THREADS> {
    static constexpr int DEPTH = LINE_BYTES / sizeof(T), WIDTH = CHUNK / sizeof(T), CHUNKS = LINES * LINE_BYTES / CHUNK;
    static constexpr bool FAST = false, HELD = false;
    Operand<T> x;
    long long first, k;

    __device__ Loader(const Operand<T>& operand, long long first_line) : x(operand), first(first_line), k(0) {}

    __device__ int whole() const { return 0; }
    __device__ void seek(int) {}
    __device__ void advance() {}

    __device__ void begin(unsigned char*, int step, int, int) { k = static_cast<long long>(step) * DEPTH; }

    __device__ void finish(unsigned char* tile) {
#pragma unroll 1
        for (int i = threadIdx.x; i < CHUNKS; i += THREADS) {
            const int line = i % LINES, chunk = i / LINES;
            const long long deep = k + chunk * WIDTH;
            const T* from = x.first + (first + line) * x.next_line + deep * x.next_k;
            const int elements = first + line < x.lines ? clipped<WIDTH>(x.k - deep) : 0;
            T value[WIDTH];
#pragma unroll
            for (int e = 0; e < WIDTH; ++e) {
                value[e] = e < elements ? from[e * x.next_k] : T{};
            }
            uint4 joined;
            memcpy(&joined, value, sizeof(joined));
            *reinterpret_cast<uint4*>(tile + swizzled<LINE_BYTES>(line, chunk)) = joined;
        }
    }
};

// Bytes of rows of b, turned on their way: mma takes four elements along k from a word. A thread reads 16 bytes of each of
// four rows and stores 16 words, one to each line.
template <bool ASYNC, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::TURNED, ASYNC, T, LINES, LINE_BYTES, THREADS> {
    static_assert(sizeof(T) == 1, "ldmatrix turns elements of 16 bits, and 32 bits are a word each");
    static constexpr int ROWS = 4, ACROSS = LINE_BYTES / ROWS, PATCHES = ACROSS * LINES / CHUNK;
    static constexpr bool FAST = false, HELD = true;
    static_assert(PATCHES <= THREADS && ACROSS == 16, "a thread has one patch, and half a warp a line of them");
    const T* from;  // of the next tile
    long long next;
    int elements, k, line;
    unsigned word[ROWS][4];  // of four lines each

    __device__ Loader(const Operand<T>& x, long long first) : next(x.next_k), line(threadIdx.x / ACROSS * CHUNK) {
        from = x.first + threadIdx.x % ACROSS * ROWS * next + first + line;
        elements = clipped<CHUNK>(threadIdx.x < PATCHES ? x.lines - first - line : 0);
        k = x.k - threadIdx.x % ACROSS * ROWS;
    }

    __device__ int whole() const { return 0; }
    __device__ void seek(int step) {
        from += static_cast<long long>(step) * LINE_BYTES * next;
        k -= step * LINE_BYTES;
    }

    __device__ void advance() { seek(1); }

    __device__ void begin(unsigned char*, int, int part, int) {
        if (part > 0) {
            return;
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            uint4 row = make_uint4(0, 0, 0, 0);
            if (r < k && elements == CHUNK) {
                row = *reinterpret_cast<const uint4*>(from + r * next);
            } else if (r < k) {
                row = joined(from + r * next);
            }
            word[r][0] = row.x, word[r][1] = row.y, word[r][2] = row.z, word[r][3] = row.w;
        }
    }

    // Lines whose number is odd lie in the banks between those of the even ones: the halves of a warp take turns.
    __device__ void finish(unsigned char* tile) {
        if (threadIdx.x >= PATCHES) {
            return;
        }
        const int column = threadIdx.x % ACROSS * ROWS, odd = threadIdx.x / ACROSS % 2;
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            // Pairs of lines out of pairs of rows, and these joined.
            const unsigned upper = __byte_perm(word[0][w], word[1][w], 0x5140);
            const unsigned lower = __byte_perm(word[2][w], word[3][w], 0x5140);
            const unsigned upper_end = __byte_perm(word[0][w], word[1][w], 0x7362);
            const unsigned lower_end = __byte_perm(word[2][w], word[3][w], 0x7362);
            store_two(tile, line + 4 * w, column, odd, __byte_perm(upper, lower, 0x5410),
                      __byte_perm(upper, lower, 0x7632));
            store_two(tile, line + 4 * w + 2, column, odd, __byte_perm(upper_end, lower_end, 0x5410),
                      __byte_perm(upper_end, lower_end, 0x7632));
        }
    }

private:
    __device__ uint4 joined(const T* row) const {
        unsigned words[4] = {};
#pragma unroll
        for (int e = 0; e < CHUNK; ++e) {
            words[e / 4] |= (e < elements ? static_cast<unsigned>(*reinterpret_cast<const unsigned char*>(row + e)) : 0u)
                            << e % 4 * 8;
        }
        return make_uint4(words[0], words[1], words[2], words[3]);
    }

    static __device__ void store_two(unsigned char* tile, int line, int column, int odd, unsigned first, unsigned second) {
        store(tile, line + odd, column, odd ? second : first);
        store(tile, line + 1 - odd, column, odd ? first : second);
    }

    static __device__ void store(unsigned char* tile, int line, int column, unsigned value) {
        *reinterpret_cast<unsigned*>(tile + swizzled<LINE_BYTES>(line, column / CHUNK) + column % CHUNK) = value;
    }
};
