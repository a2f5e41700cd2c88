// Tiles of a and b in shared memory, and the registers of mma.sync out of them.
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

// How the chunks of an operand lie in memory. ALONG_LINES is b by rows: a tile then holds rows of columns.
enum class Access { ALONG_K, ALONG_LINES, SCATTERED };

// What a block and a warp compute at once, and how deep.
template <typename Type, int BLOCK_ROWS, int BLOCK_COLUMNS, int ROWS_OF_WARP, int COLUMNS_OF_WARP, int BYTES_OF_LINE>
struct Tiling {
    using T = Type;
    using Accumulator = typename Format<T>::Accumulator;
    static constexpr int ROWS = BLOCK_ROWS, COLUMNS = BLOCK_COLUMNS;
    static constexpr int WARP_ROWS = ROWS_OF_WARP, WARP_COLUMNS = COLUMNS_OF_WARP, LINE_BYTES = BYTES_OF_LINE;
    static constexpr int WARPS_ACROSS = COLUMNS / WARP_COLUMNS, THREADS = ROWS / WARP_ROWS * WARPS_ACROSS * 32;
    static constexpr int DEPTH = LINE_BYTES / sizeof(T), STEPS = LINE_BYTES / STEP_BYTES;
    static constexpr int A_BYTES = ROWS * LINE_BYTES, STAGE_BYTES = A_BYTES + COLUMNS * LINE_BYTES;
};

template <int LINE_BYTES>
__device__ int swizzled(int line, int chunk) {
    constexpr int ACROSS = LINE_BYTES / CHUNK, TOGETHER = 128 / LINE_BYTES;  // lines in one row of the banks
    return line * LINE_BYTES + (chunk ^ (line / TOGETHER % ACROSS)) * CHUNK;
}

// A row of b in a tile: ldmatrix reads eight rows of 16-bit elements, a warp four rows of two chunks of 32-bit ones.
template <typename T, int LINES>
__device__ int swizzled_row(int row, int chunk) {
    return row * LINES * static_cast<int>(sizeof(T)) + (chunk ^ (sizeof(T) == 2 ? row % 8 : 2 * (row % 4))) * CHUNK;
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
            reinterpret_cast<T*>(to)[e] = e < elements ? from[e] : T(0);
        }
    }
}

// What one thread brings of LINES lines, from line `first` of the operand on.
template <Access ACCESS, typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader;

template <typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::ALONG_K, T, LINES, LINE_BYTES, THREADS> {
    static constexpr int ACROSS = LINE_BYTES / CHUNK, WIDTH = CHUNK / sizeof(T), DEPTH = LINE_BYTES / sizeof(T);
    static constexpr int PASS = THREADS / ACROSS, PASSES = LINES / PASS;  // lines at a time
    static_assert(PASSES * PASS == LINES && PASS % 8 == 0, "all passes of a thread have the same swizzle");
    const T* from[PASSES];
    int to, left;

    __device__ Loader(const Operand<T>& x, long long first) {
        const int line = threadIdx.x / ACROSS, chunk = threadIdx.x % ACROSS;
#pragma unroll
        for (int p = 0; p < PASSES; ++p) {
            // Lines past the last repeat it: what becomes of them is not stored.
            const long long here = first + line + p * PASS, last = x.lines - 1;
            from[p] = x.first + (here < last ? here : last) * x.next_line + chunk * WIDTH;
        }
        to = swizzled<LINE_BYTES>(line, chunk);
        left = x.k - chunk * WIDTH;
    }

    template <bool ASYNC>
    __device__ void load(unsigned char* tile, int step) const {
        const long long k = static_cast<long long>(step) * DEPTH;
        const int elements = static_cast<int>(min(max(left - k, 0ll), static_cast<long long>(WIDTH)));
#pragma unroll
        for (int p = 0; p < PASSES; ++p) {
            copy_chunk<ASYNC>(tile + to + p * PASS * LINE_BYTES, from[p] + k, elements);
        }
    }
};

template <typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::ALONG_LINES, T, LINES, LINE_BYTES, THREADS> {
    static constexpr int WIDTH = CHUNK / sizeof(T), DEPTH = LINE_BYTES / sizeof(T), ACROSS = LINES / WIDTH;
    static constexpr int PASS = THREADS / ACROSS, PASSES = DEPTH / PASS;  // rows at a time
    static_assert(PASSES * PASS == DEPTH, "every thread brings as many chunks");
    const T* from;
    long long next;
    int elements, k;

    __device__ Loader(const Operand<T>& x, long long first) {
        const long long line = first + threadIdx.x % ACROSS * WIDTH, left = x.lines - line;
        from = x.first + line;
        next = x.next_k;
        elements = static_cast<int>(min(max(left, 0ll), static_cast<long long>(WIDTH)));
        k = x.k;
    }

    template <bool ASYNC>
    __device__ void load(unsigned char* tile, int step) const {
        const int chunk = threadIdx.x % ACROSS;
#pragma unroll
        for (int p = 0; p < PASSES; ++p) {
            const int row = threadIdx.x / ACROSS + p * PASS;
            const long long here = static_cast<long long>(step) * DEPTH + row;
            copy_chunk<ASYNC>(tile + swizzled_row<T, LINES>(row, chunk), from + here * next, here < k ? elements : 0);
        }
    }
};

// Element by element, for any strides and any alignment; the tile is one along k.
template <typename T, int LINES, int LINE_BYTES, int THREADS>
struct Loader<Access::SCATTERED, T, LINES, LINE_BYTES, THREADS> {
    static constexpr int DEPTH = LINE_BYTES / sizeof(T), WIDTH = CHUNK / sizeof(T), BATCH = 8;  // loads in flight
    static_assert(LINES * DEPTH % (THREADS * BATCH) == 0, "every thread brings as many elements");
    Operand<T> x;
    long long first;

    __device__ Loader(const Operand<T>& operand, long long first_line) : x(operand), first(first_line) {}

    template <bool ASYNC>
    __device__ void load(unsigned char* tile, int step) const {
        const bool along_k = x.next_k == 1;  // neighbouring threads take neighbours in memory
        const long long k = static_cast<long long>(step) * DEPTH;
#pragma unroll 1
        for (int start = threadIdx.x; start < LINES * DEPTH; start += THREADS * BATCH) {
            T value[BATCH];
#pragma unroll
            for (int e = 0; e < BATCH; ++e) {
                const int i = start + e * THREADS, line = along_k ? i / DEPTH : i % LINES;
                const int deep = along_k ? i % DEPTH : i / LINES;
                const bool inside = first + line < x.lines && k + deep < x.k;
                value[e] = inside ? x.first[(first + line) * x.next_line + (k + deep) * x.next_k] : T(0);
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

// Registers of 16 rows of a for one instruction.
template <int LINE_BYTES>
__device__ void fragment_of_a(unsigned (&r)[4], const unsigned char* tile, int line, int step) {
    const int lane = threadIdx.x % 32;
    roofline::ldmatrix<4>(r, tile + swizzled<LINE_BYTES>(line + lane % 16, 2 * step + lane / 16));
}

// Registers of 16 columns of b for two instructions, two after two.
template <int LINE_BYTES>
__device__ void fragment_of_b(unsigned (&r)[4], const unsigned char* tile, int line, int step) {
    const int lane = threadIdx.x % 32;
    roofline::ldmatrix<4>(r, tile + swizzled<LINE_BYTES>(line + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
}

// The same out of rows of b. 16-bit elements are transposed on the way; of 32-bit ones a lane reads its four.
template <typename T, int LINES>
__device__ void fragment_of_rows(unsigned (&r)[4], const unsigned char* tile, int line, int step) {
    const int lane = threadIdx.x % 32;
    if constexpr (sizeof(T) == 2) {
        roofline::ldmatrix<4, true>(r, tile + swizzled_row<T, LINES>(16 * step + lane % 16, line / 8 + lane / 16));
    } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int row = 8 * step + lane % 4 + e % 2 * 4, column = line + lane / 4 + e / 2 * 8;
            const unsigned char* chunk = tile + swizzled_row<T, LINES>(row, column / 4);
            r[e] = reinterpret_cast<const unsigned*>(chunk)[column % 4];
        }
    }
}

// The operands of a warp's instructions of one step.
template <class Tile, Access B_ACCESS>
struct Fragments {
    unsigned a[Tile::WARP_ROWS / 16][4], b[Tile::WARP_COLUMNS / 16][4];

    __device__ void load(const unsigned char* stage, int step) {
        const int warp = threadIdx.x / 32;
        const int row = warp / Tile::WARPS_ACROSS * Tile::WARP_ROWS, column = warp % Tile::WARPS_ACROSS * Tile::WARP_COLUMNS;
#pragma unroll
        for (int i = 0; i < Tile::WARP_ROWS / 16; ++i) {
            fragment_of_a<Tile::LINE_BYTES>(a[i], stage, row + 16 * i, step);
        }
#pragma unroll
        for (int j = 0; j < Tile::WARP_COLUMNS / 16; ++j) {
            if constexpr (B_ACCESS == Access::ALONG_LINES) {
                using T = typename Tile::T;
                fragment_of_rows<T, Tile::COLUMNS>(b[j], stage + Tile::A_BYTES, column + 16 * j, step);
            } else {
                fragment_of_b<Tile::LINE_BYTES>(b[j], stage + Tile::A_BYTES, column + 16 * j, step);
            }
        }
    }
};

// A warp's sums, as the instructions hold them.
template <class Tile>
struct Sums {
    typename Tile::Accumulator x[Tile::WARP_ROWS / 16][Tile::WARP_COLUMNS / 8][4] = {};

    template <Access B_ACCESS>
    __device__ void add(const Fragments<Tile, B_ACCESS>& f) {
#pragma unroll
        for (int i = 0; i < Tile::WARP_ROWS / 16; ++i) {
#pragma unroll
            for (int j = 0; j < Tile::WARP_COLUMNS / 8; ++j) {
                const unsigned b[2] = {f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]};
                Format<typename Tile::T>::multiply(x[i][j], f.a[i], b);
            }
        }
    }
};
