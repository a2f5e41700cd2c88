// y = x for matrices that the copy engine does not take as they lie: rows that begin at any address, or lie across, become
// dense rows that begin at multiples of 16 bytes, and the other way round. One launch for two of them.

#include "realigned.cuh"

constexpr int SIDE = 64;  // rows and columns of a block's part
constexpr int THREADS = 256;

// x[rows][columns] with any strides; y's columns are dense.
template <typename T>
struct Move {
    const T* x;
    T* y;
    int rows, columns;
    long long x_row, x_column, y_row;
};

// Blocks across a row, of whose packs in y the first may begin before it.
template <typename T>
__device__ int across(const Move<T>& move) {
    return (move.columns + CHUNK / static_cast<int>(sizeof(T)) - 2) / SIDE + 1;
}

// Dense rows: a thread shifts chunks to where packs of y lie, and copies those at the edges element by element.
template <typename T>
__device__ void copy_rows(const Move<T>& move, int first_row, int first_column) {
    constexpr int WIDTH = CHUNK / sizeof(T), ACROSS = SIDE / WIDTH;
#pragma unroll
    for (int i = threadIdx.x; i < SIDE * ACROSS; i += THREADS) {
        const int row = first_row + i / ACROSS;
        if (row < move.rows) {
            const T* from = move.x + row * move.x_row;
            T* to = move.y + row * move.y_row;
            const int before = static_cast<int>(reinterpret_cast<unsigned long long>(to) / sizeof(T) % WIDTH);
            const int column = first_column + i % ACROSS * WIDTH - before;
            if (column >= WIDTH && column + 2 * WIDTH <= move.columns) {
                Packs<T> packs;
                packs.read(from + column);
                *reinterpret_cast<uint4*>(to + column) = packs.chunk();
            } else {
#pragma unroll
                for (int e = 0; e < WIDTH; ++e) {
                    if (column + e >= 0 && column + e < move.columns) {
                        to[column + e] = from[column + e];
                    }
                }
            }
        }
    }
}

// Any strides of x: neighbouring threads read down its columns, and what lies across is turned in shared memory. Rows of y
// begin at multiples of 16 bytes.
template <typename T>
__device__ void turn(const Move<T>& move, int first_row, int first_column) {
    constexpr int WIDTH = CHUNK / sizeof(T), ACROSS = SIDE / WIDTH, PITCH = SIDE + 4 / sizeof(T);
    __shared__ T tile[SIDE][PITCH];
#pragma unroll
    for (int i = threadIdx.x; i < SIDE * SIDE; i += THREADS) {
        const int row = first_row + i % SIDE, column = first_column + i / SIDE;
        const bool inside = row < move.rows && column < move.columns;
        tile[i % SIDE][i / SIDE] = inside ? move.x[row * move.x_row + column * move.x_column] : T{};
    }
    __syncthreads();
#pragma unroll
    for (int i = threadIdx.x; i < SIDE * ACROSS; i += THREADS) {
        const int row = i / ACROSS, column = i % ACROSS * WIDTH;
        if (first_row + row < move.rows && first_column + column < move.columns) {
            T element[WIDTH];
            uint4 chunk;
#pragma unroll
            for (int e = 0; e < WIDTH; ++e) {
                element[e] = tile[row][column + e];
            }
            memcpy(&chunk, element, sizeof(chunk));
            T* to = move.y + (first_row + row) * move.y_row + first_column + column;
            if (first_column + column + WIDTH <= move.columns) {
                *reinterpret_cast<uint4*>(to) = chunk;
            } else {
                for (int e = 0; e < move.columns - first_column - column; ++e) {
                    to[e] = tile[row][column + e];
                }
            }
        }
    }
}

template <typename T>
__device__ void move_block(const Move<T>& move, long long block) {
    const int row = static_cast<int>(block / across(move)) * SIDE;
    const int column = static_cast<int>(block % across(move)) * SIDE;
    if (move.x_column == 1) {
        copy_rows(move, row, column);
    } else {
        turn(move, row, column);
    }
}

// The first `a_blocks` blocks move a, the others b.
template <typename T>
__global__ void __launch_bounds__(THREADS)
matmul_tensor_align(const T* __restrict__ a, T* __restrict__ a_to, int a_rows, int a_columns, long long a_row,
                    long long a_column, long long a_to_row, long long a_blocks, const T* __restrict__ b,
                    T* __restrict__ b_to, int b_rows, int b_columns, long long b_row, long long b_column,
                    long long b_to_row) {
    const long long block = blockIdx.x;
    if (block < a_blocks) {
        move_block(Move<T>{a, a_to, a_rows, a_columns, a_row, a_column, a_to_row}, block);
    } else {
        move_block(Move<T>{b, b_to, b_rows, b_columns, b_row, b_column, b_to_row}, block - a_blocks);
    }
}

// y = x element by element, for a y whose columns lie apart; x's rows are dense.
template <typename T>
__global__ void __launch_bounds__(THREADS)
matmul_tensor_spread(const T* __restrict__ x, T* __restrict__ y, int rows, int columns, long long x_row, long long y_row,
                     long long y_column) {
    const long long at = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    const long long row = at / columns, column = at % columns;
    if (row < rows) {
        y[row * y_row + column * y_column] = x[row * x_row + column];
    }
}
