// The results of a warpgroup, 64 rows of a tile, from its registers to memory: no shared memory is kept for them, and rows
// of c may begin anywhere.

#pragma once

#include "../matmul_tensor/results.cuh"
#include "../matmul_tensor/wgmma.cuh"

// Of accumulators i to i + 3 a lane has two neighbours in row lane / 4, columns lane % 4 * 2 of 8, and two 8 rows below.
__device__ __forceinline__ int row_of_lane() { return threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4; }
__device__ __forceinline__ int column_of_lane() { return threadIdx.x % 4 * 2; }

// Dense sums of a tile, whole 32-byte sectors; rows from `m` on are left out.
__device__ __forceinline__ void store_sums(float* to, long long row, int m, const float (&d)[ACCUMULATORS]) {
    to += row_of_lane() * WGMMA_N + column_of_lane();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (row + row_of_lane() + 8 * half < m) {
#pragma unroll
            for (int i = 0; i < ACCUMULATORS; i += 4) {
                const float2 pair = make_float2(d[i + 2 * half], d[i + 2 * half + 1]);
                *reinterpret_cast<float2*>(to + 8 * half * WGMMA_N + 2 * i) = pair;
            }
        }
    }
}

// A row whose elements lie at multiples of 8 bytes: neighbouring lanes exchange pairs of two blocks of 8 columns, so that
// each stores four elements, and four lanes a whole sector.
__device__ __forceinline__ void store_fours(__half* to, const float (&d)[ACCUMULATORS], int half, bool inside) {
    const bool odd = threadIdx.x & 1;
    to += threadIdx.x % 4 / 2 * 4 + (odd ? 8 : 0);
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i += 8) {
        const unsigned first = F16::pack(d[i + 2 * half], d[i + 2 * half + 1]);
        const unsigned second = F16::pack(d[i + 4 + 2 * half], d[i + 4 + 2 * half + 1]);
        const unsigned got = __shfl_xor_sync(~0u, odd ? first : second, 1);
        if (inside) {
            *reinterpret_cast<uint2*>(to + 2 * i) = odd ? make_uint2(got, second) : make_uint2(first, got);
        }
    }
}

// Any row: where its elements lie 2 bytes off a multiple of 4, a lane stores its second element with the first of the lane
// beside it, which is the first of the next 8 columns for the last of four.
__device__ __forceinline__ void store_twos(__half* row, int column, int columns, const float (&d)[ACCUMULATORS], int half,
                                           bool inside) {
    const bool off = reinterpret_cast<unsigned long long>(row) % 4 != 0;
    const int lane = threadIdx.x % 32, beside = lane / 4 * 4 + (lane + 1) % 4, at = column_of_lane();
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i += 4) {
        const float first = d[i + 2 * half], second = d[i + 2 * half + 1];
        const float later = i + 4 < ACCUMULATORS ? d[(i + 4) % ACCUMULATORS + 2 * half] : 0.0f;
        const float next = __shfl_sync(~0u, lane % 4 == 0 ? later : first, beside);
        const int start = column + 2 * i + at + off, left = columns - start;
        const bool last = off && at == 6 && i + 4 == ACCUMULATORS;  // its neighbour is another tile's
        if (inside && left > 0) {
            if (left > 1 && !last) {
                *reinterpret_cast<unsigned*>(row + start) = off ? F16::pack(second, next) : F16::pack(first, second);
            } else {
                row[start] = __float2half(off ? second : first);
            }
        }
        if (off && i == 0 && at == 0 && inside && column < columns) {
            row[column] = __float2half(first);
        }
    }
}

// At (row, column) of c, which has any strides.
__device__ __forceinline__ void store_results(const Results<__half>& c, long long row, long long column,
                                              const float (&d)[ACCUMULATORS]) {
    const bool dense = c.next_column == 1;
    const bool fours = dense && c.next_row % 4 == 0 && reinterpret_cast<unsigned long long>(c.first) % 8 == 0 &&
                       column + WGMMA_N <= c.columns;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const long long here = row + row_of_lane() + 8 * half;
        __half* to = c.first + here * c.next_row;
        const bool inside = here < c.rows;
        if (fours) {
            store_fours(to + column, d, half, inside);
        } else if (dense) {
            store_twos(to, static_cast<int>(column), c.columns, d, half, inside);
        } else {
#pragma unroll
            for (int i = 0; i < ACCUMULATORS; i += 4) {
                c.store(here, column + 2 * i + column_of_lane(), __float2half(d[i + 2 * half]));
                c.store(here, column + 2 * i + column_of_lane() + 1, __float2half(d[i + 2 * half + 1]));
            }
        }
    }
}
