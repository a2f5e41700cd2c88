// Tiles of rows that start anywhere, moved by 16 bytes all the same: each row of x is read by the aligned packs that its
// part of the tile lies in, each row of y is written by aligned packs, and shared memory is where elements move to the
// place that they have in the other.

#pragma once

constexpr int LINE = 8;  // packs in 128 bytes, which are all banks of shared memory

template <typename T>
constexpr int WIDTH = sizeof(uint4) / sizeof(T);

// Elements from the multiple of BYTES before `at` to there.
template <int BYTES, typename T>
__device__ int past(const T* at) {
    return static_cast<int>(reinterpret_cast<unsigned long long>(at) % BYTES / sizeof(T));
}

// The pack whose first element is number `first` of a row of n; of one that overlaps its ends what lies inside.
template <typename T>
__device__ uint4 load_pack(const T* at, int first, int n) {
    if (first >= 0 && first <= n - WIDTH<T>) {
        return *reinterpret_cast<const uint4*>(at);
    }
    uint4 pack = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < WIDTH<T>; ++k) {
        if (first + k >= 0 && first + k < n) {
            reinterpret_cast<T*>(&pack)[k] = at[k];
        }
    }
    return pack;
}

template <typename T>
__device__ void store_pack(T* at, uint4 pack, int first, int n) {
    if (first >= 0 && first <= n - WIDTH<T>) {
        *reinterpret_cast<uint4*>(at) = pack;
        return;
    }
#pragma unroll
    for (int k = 0; k < WIDTH<T>; ++k) {
        if (first + k >= 0 && first + k < n) {
            at[k] = reinterpret_cast<const T*>(&pack)[k];
        }
    }
}

// Where pack `pack` of row `row` lies in the tile: eight packs of one column, WIDTH rows apart, in eight different banks.
template <typename T, int PACKS>
__device__ int place(int row, int pack) {
    return row * PACKS + (pack ^ (row / WIDTH<T> % LINE));
}

// PACKS packs of rows first_row .. first_row + ROWS - 1 of x into the tile; all loads of a thread before its first store.
// In a WHOLE tile every pack lies in x.
template <typename T, int ROWS, int PACKS, int THREADS, bool WHOLE>
__device__ void read_tile(const T* __restrict__ x, uint4* tile, int m, int n, long long x_row, int first_row,
                          int first_column) {
    constexpr int STEP = THREADS / PACKS, EACH = ROWS / STEP;
    static_assert(ROWS % STEP == 0, "all threads have as many packs");
    const int right = threadIdx.x % PACKS, down = threadIdx.x / PACKS;
    const T* from = x + (first_row + down) * x_row + first_column;
    uint4 pack[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k, from += STEP * x_row) {
        const int row = first_row + k * STEP + down, shift = past<sizeof(uint4)>(from);
        const T* at = from - shift + right * WIDTH<T>;
        if (WHOLE) {
            pack[k] = *reinterpret_cast<const uint4*>(at);
        } else if (row >= 0 && row < m) {
            pack[k] = load_pack(at, first_column - shift + right * WIDTH<T>, n);
        }
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        tile[place<T, PACKS>(k * STEP + down, right)] = pack[k];
    }
}

// The columns that a tile of PACKS packs has of every row, however that begins, as rows of y. Eight lanes write 128 bytes of one, four columns at a time. What a thread has
// to know about misalignment is the same for all its columns: they are 128 bytes apart in x, and rows of y that many
// apart begin equally far past a multiple of ALIGN bytes.
template <typename T, int ROWS, int PACKS, int ALIGN, int THREADS, bool WHOLE>
__device__ void write_tile(const T* __restrict__ x, T* __restrict__ y, const uint4* tile, int m, int n, long long x_row,
                           long long y_row, int first_row, int first_column) {
    constexpr int ABOVE = ALIGN / sizeof(T);           // rows of the tile from which parts of rows of y may begin
    constexpr int COLUMNS = (PACKS - 1) * WIDTH<T>;
    constexpr int STEP = THREADS / 32 * WIDTH<T>;      // columns from one of a thread to its next
    constexpr int GROUPS = WIDTH<T> / 4;               // of four columns
    static_assert(STEP % (LINE * WIDTH<T>) == 0 && ROWS % (LINE * WIDTH<T>) == 0 && LINE * sizeof(uint4) % ALIGN == 0, "");
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int end = WHOLE ? COLUMNS : min(COLUMNS, n - first_column);
#pragma unroll 1
    for (int part = 0; part < ROWS / (LINE * WIDTH<T>) * GROUPS; ++part) {
        int column = warp * WIDTH<T> + part % GROUPS * 4 + lane / LINE;
        T* to = y + (first_column + column) * y_row + first_row;
        const int down = (part / GROUPS * LINE + lane % LINE) * WIDTH<T> - past<ALIGN>(to);  // rows from first_row on
        to += down;
        const T* element[WIDTH<T>];
#pragma unroll
        for (int k = 0; k < WIDTH<T>; ++k) {
            const int right = column + past<sizeof(uint4)>(x + (first_row + down + k) * x_row + first_column);
            const uint4* pack = tile + place<T, PACKS>(ABOVE + down + k, right / WIDTH<T>);
            element[k] = reinterpret_cast<const T*>(pack) + right % WIDTH<T>;
        }
        for (; column < end; column += STEP, to += STEP * y_row) {
            uint4 pack;
#pragma unroll
            for (int k = 0; k < WIDTH<T>; ++k) {
                reinterpret_cast<T*>(&pack)[k] = *element[k];
                element[k] += STEP;
            }
            if (WHOLE) {
                *reinterpret_cast<uint4*>(to) = pack;
            } else {
                store_pack(to, pack, first_row + down, m);
            }
        }
    }
}
