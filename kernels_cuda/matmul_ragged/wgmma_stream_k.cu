// As stream_k.cu on Hopper's tensor cores: operands by the copy engine, products by wgmma, tiles of 128 x 256. Results
// leave from the registers: whole 32-byte sectors of sums, and whatever alignment the rows of c have.

#include "../matmul_tensor/wgmma_roles.cuh"
#include "join.cuh"
#include "share.cuh"

// The two neighbours that a thread holds in each of its rows.
template <typename Store>
__device__ __forceinline__ void for_pairs(int consumer, const float (&d)[ACCUMULATORS], Store store) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const int row = consumer * WGMMA_M + warp * 16 + lane / 4, column = lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i += 2) {
        store(row + i / 2 % 2 * 8, column + i / 4 * 8, d[i], d[i + 1]);
    }
}

// partials[slot][TILE_M][TILE_N]
template <typename Operand, bool B_BY_COLUMNS>
__global__ void __launch_bounds__(THREADS, 1)
matmul_ragged_wgmma_stream_k(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                             __half* __restrict__ c, float* __restrict__ partials, int m, int n, int k, long long c_row,
                             bool c_pairs, int group, long long tiles, long long whole, long long pieces) {
    extern __shared__ unsigned char shared[];
    const Ring ring(shared);
    if (threadIdx.x == 0) {
        ring.init(READERS<1>);
    }
    __syncthreads();
    Share share(tiles, whole, pieces, (k - 1) / TILE_K<Operand> + 1);
    const int role = __shfl_sync(~0u, threadIdx.x / WARPGROUP, 0);  // the compiler sees that a warp agrees
    if (role == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) {
            Turn turn(1);  // of a barrier without a past the phase before the first counts as complete
            for (Run run; share.next(run);) {
                long long row, column;
                place<TILE_M, TILE_N>(row, column, run.tile, m, n, group);
                for (int step = run.start; step < run.stop; ++step, turn.advance()) {
                    barrier_wait(ring.empty(turn.stage), turn.parity);
                    load_stage<Operand, B_BY_COLUMNS>(ring, turn.stage, a, b, static_cast<int>(row),
                                                      static_cast<int>(column), step * TILE_K<Operand>);
                }
            }
        }
    } else {
        registers_take<CONSUMER_REGISTERS>();
        const int consumer = role - 1;
        float d[ACCUMULATORS];
        Turn turn(0);
        for (Run run; share.next(run);) {
            long long row, column;
            place<TILE_M, TILE_N>(row, column, run.tile, m, n, group);
            consume<Operand, B_BY_COLUMNS, 1>(ring, turn, consumer, run.stop - run.start, d);
            if (run.complete) {
                const Results<__half> results{c, c_row, 1, m, n};
                for_pairs(consumer, d, [&](int i, int j, float first, float second) {
                    const __half pair[2] = {__float2half(first), __float2half(second)};
                    if (c_pairs && row + i < m && column + j + 1 < n) {
                        store_pair(c + (row + i) * c_row + column + j, pair[0], pair[1]);
                    } else {
                        results.store(row + i, column + j, pair[0]);
                        results.store(row + i, column + j + 1, pair[1]);
                    }
                });
            } else {
                float* partial = partials + run.slot * (TILE_M * TILE_N);
                for_pairs(consumer, d, [&](int i, int j, float first, float second) {
                    if (row + i < m && column + j < n) {
                        *reinterpret_cast<float2*>(partial + i * TILE_N + j) = make_float2(first, second);
                    }
                });
            }
        }
    }
}

__global__ void __launch_bounds__(256)
matmul_ragged_join_wgmma(const float* __restrict__ partials, __half* __restrict__ c, int m, int n, long long c_row,
                         int group, long long tiles, long long whole, long long pieces, int steps) {
    join_runs<TILE_M, TILE_N>(partials, Results<__half>{c, c_row, 1, m, n}, group, tiles, whole, pieces, steps);
}
