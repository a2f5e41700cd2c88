// What several blocks found of one tile of c, added up in a fixed order: no atomics, and the same bits from run to run.

#pragma once

#include "../matmul_tensor/place.cuh"
#include "../matmul_tensor/results.cuh"
#include "share.cuh"

constexpr int JOIN_THREADS = 256, FOUR = 4;  // elements of a lane

// Adds up pieces [first, last) of a tile of ROWS x COLUMNS sums, dense rows at piece(p), for blockIdx.y's elements of it;
// `share` warps (a power of two up to 8) take turns at the pieces of the same elements.
template <int ROWS, int COLUMNS, typename T, class Piece>
__device__ void join(const Results<T>& c, long long row, long long column, int first, int last, int share, Piece piece) {
    __shared__ float4 found[JOIN_THREADS];
    const int warp = threadIdx.x / 32, turn = warp % share, lane = threadIdx.x % 32;
    const int element = ((blockIdx.y * (JOIN_THREADS / 32) + warp) / share * 32 + lane) * FOUR;
    const bool inside = element < ROWS * COLUMNS && row + element / COLUMNS < c.rows && column + element % COLUMNS < c.columns;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (inside) {
#pragma unroll 8
        for (int p = first + turn; p < last; p += share) {
            const float4 x = *reinterpret_cast<const float4*>(piece(p) + element);
            sum.x += x.x;
            sum.y += x.y;
            sum.z += x.z;
            sum.w += x.w;
        }
    }
    found[threadIdx.x] = sum;
    __syncthreads();
    if (inside && turn == 0) {
        for (int w = 1; w < share; ++w) {
            const float4 x = found[threadIdx.x + 32 * w];
            sum.x += x.x;
            sum.y += x.y;
            sum.z += x.z;
            sum.w += x.w;
        }
        const float four[FOUR] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
        for (int e = 0; e < FOUR; ++e) {
            c.store(row + element / COLUMNS, column + element % COLUMNS + e, rounded<T>(four[e]));
        }
    }
}

// Adds up the runs of tile whole + blockIdx.x, `share` warps at a time; a tile that one piece covers is in c already.
template <int ROWS, int COLUMNS, typename T>
__device__ void join_runs(const float* __restrict__ partials, const Results<T>& c, int group, long long tiles,
                          long long whole, long long pieces, int steps, int share) {
    const long long total = (tiles - whole) * steps, start = static_cast<long long>(blockIdx.x) * steps;
    long long first = start * pieces / total, last = (start + steps - 1) * pieces / total;
    while (piece_start(first + 1, total, pieces) <= start) {
        ++first;
    }
    while (piece_start(last + 1, total, pieces) < start + steps) {
        ++last;
    }
    if (first == last) {
        return;
    }
    long long row, column;
    place<ROWS, COLUMNS>(row, column, whole + blockIdx.x, c.rows, c.columns, group);
    const auto piece = [&](int p) { return partials + (static_cast<long long>(p) + blockIdx.x) * (ROWS * COLUMNS); };
    join<ROWS, COLUMNS>(c, row, column, static_cast<int>(first), static_cast<int>(last) + 1, share, piece);
}
