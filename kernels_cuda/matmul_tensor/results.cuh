// From a warp's sums to c: straight, or through shared memory in 16-byte stores.

#pragma once

#include "tiles.cuh"

template <typename T>
struct Results {
    T* first;
    long long next_row, next_column;
    int rows, columns;

    __device__ void store(long long row, long long column, T value) const {
        if (row < rows && column < columns) {
            first[row * next_row + column * next_column] = value;
        }
    }
};

// Every lane stores its own elements, two neighbours in each of eight rows per instruction.
template <class Tile, typename T>
__device__ void store_direct(const Sums<Tile>& sums, const Results<T>& c, long long row, long long column) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    row += warp / Tile::WARPS_ACROSS * Tile::WARP_ROWS + lane / 4;
    column += warp % Tile::WARPS_ACROSS * Tile::WARP_COLUMNS + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < Tile::WARP_ROWS / 16; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::WARP_COLUMNS / 8; ++j) {
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                c.store(row + 16 * i + r / 2 * 8, column + 8 * j + r % 2, rounded<T>(sums.x[i][j][r]));
            }
        }
    }
}

// Two neighbours in one store.
template <typename T>
__device__ void store_pair(T* to, T first, T second) {
    const T pair[2] = {first, second};
    if constexpr (sizeof(T) == 2) {
        unsigned word;
        memcpy(&word, pair, sizeof(word));
        *reinterpret_cast<unsigned*>(to) = word;
    } else {
        uint2 words;
        memcpy(&words, pair, sizeof(words));
        *reinterpret_cast<uint2*>(to) = words;
    }
}

// Bytes of shared memory that store_staged needs: 16 rows of every warp.
template <class Tile, typename T>
struct Staging {
    static constexpr int CHUNKS = Tile::WARP_COLUMNS * sizeof(T) / CHUNK;
    // Rows of pairs of elements lie off each other by four banks, or eight where a pair takes two.
    static constexpr int PITCH = CHUNKS * CHUNK + (sizeof(T) == 2 ? 16 : 32);
    static constexpr int WARP_BYTES = 16 * PITCH, BYTES = Tile::THREADS / 32 * WARP_BYTES;
    // Eight lanes read 128 bytes at once. Of rows shorter than that they take several, so far apart that these lie in
    // different banks.
    static constexpr int AT_ONCE = CHUNKS < 8 ? 8 / CHUNKS : 1, APART = sizeof(T) == 2 ? 8 / AT_ONCE : 2;
    static_assert(AT_ONCE == 1 || AT_ONCE * CHUNKS == 8, "eight lanes read whole rows");

    static __device__ int line(int e) {
        const int i = e / CHUNKS;
        return AT_ONCE == 1 ? i : i / (AT_ONCE * APART) * (AT_ONCE * APART) + i / AT_ONCE % APART + i % AT_ONCE * APART;
    }
};

// A warp turns 16 rows of its sums into whole rows in shared memory of its own, and stores these 16 bytes a lane.
// `aligned` says that 16-byte stores to c are allowed.
template <class Tile, typename T>
__device__ void store_staged(const Sums<Tile>& sums, const Results<T>& c, long long row, long long column, bool aligned,
                             unsigned char* shared) {
    using Stage = Staging<Tile, T>;
    constexpr int WIDTH = CHUNK / sizeof(T);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned char* stage = shared + warp * Stage::WARP_BYTES;
    row += warp / Tile::WARPS_ACROSS * Tile::WARP_ROWS;
    column += warp % Tile::WARPS_ACROSS * Tile::WARP_COLUMNS;
#pragma unroll
    for (int i = 0; i < Tile::WARP_ROWS / 16; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::WARP_COLUMNS / 8; ++j) {
#pragma unroll
            for (int r = 0; r < 4; r += 2) {
                T* pair = reinterpret_cast<T*>(stage + (lane / 4 + r / 2 * 8) * Stage::PITCH) + 8 * j + lane % 4 * 2;
                store_pair(pair, rounded<T>(sums.x[i][j][r]), rounded<T>(sums.x[i][j][r + 1]));
            }
        }
        __syncwarp();
#pragma unroll
        for (int e = lane; e < 16 * Stage::CHUNKS; e += 32) {
            const int line = Stage::line(e), chunk = e % Stage::CHUNKS;
            const long long here = row + 16 * i + line, start = column + chunk * WIDTH;
            const uint4 pack = *reinterpret_cast<const uint4*>(stage + line * Stage::PITCH + chunk * CHUNK);
            if (aligned && here < c.rows && start + WIDTH <= c.columns) {
                *reinterpret_cast<uint4*>(c.first + here * c.next_row + start) = pack;
            } else {
                T element[WIDTH];
                memcpy(element, &pack, sizeof(pack));
#pragma unroll
                for (int w = 0; w < WIDTH; ++w) {
                    c.store(here, start + w, element[w]);
                }
            }
        }
        __syncwarp();
    }
}
