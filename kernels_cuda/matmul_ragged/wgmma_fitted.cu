// c[m, n] = a[m, k] b[k, n] on Hopper's tensor cores with tiles that fit the shape: 64, 128 or 192 rows and any multiple of
// 16 columns, given to the compiler, so that one wave of them is as full as can be. Where c is too small for that, blocks
// share a tile, each an equal part of k; a second kernel adds up what they found.

#include "../matmul_tensor/wgmma_roles.cuh"
#include "fitted_results.cuh"
#include "join.cuh"
#include "partners.cuh"

// What the blocks of a cluster share. Two of them an operand, each loading one half of it for both: a, if their tiles lie
// side by side, or b, if they lie one above the other. Or all of them a tile, each an equal part of k.
enum class Shared { NONE, A, B, TILE };

#ifndef WGMMA_PARTNERS
#define WGMMA_PARTNERS 1  // blocks that share a tile
#endif

template <Shared SHARED>
constexpr int RECEIVERS = SHARED == Shared::A || SHARED == Shared::B ? 2 : 1;  // of what a block loads

template <Shared SHARED>
constexpr int CLUSTER = SHARED == Shared::TILE ? WGMMA_PARTNERS : RECEIVERS<SHARED>;

// Where the tile of block `rank` of a cluster begins.
template <Shared SHARED>
__device__ __forceinline__ void place_fitted(long long& row, long long& column, long long tile, unsigned rank, int m,
                                             int n, int group) {
    constexpr int DOWN = SHARED == Shared::B ? 2 : 1, ACROSS = SHARED == Shared::A ? 2 : 1;
    place<DOWN * TILE_M, ACROSS * TILE_N>(row, column, tile, m, n, group);
    row += DOWN == 2 ? rank * TILE_M : 0;
    column += ACROSS == 2 ? rank * TILE_N : 0;
}

template <int BLOCKS>
__device__ __forceinline__ void meet() {
    if constexpr (BLOCKS > 1) {
        cluster_sync();
    } else {
        __syncthreads();
    }
}

template <typename Operand, bool B_BY_COLUMNS, Shared SHARED>
__device__ __forceinline__ void load_fitted(const Ring& ring, int stage, const TensorMap& a, const TensorMap& b, int row,
                                            int column, int at, unsigned rank) {
    constexpr unsigned short BOTH = 3;
    const unsigned full = ring.full(stage);
    barrier_expect(full, STAGE_BYTES);
    if constexpr (SHARED == Shared::A) {
        load_box(ring.a(stage) + rank * A_BYTES / 2, a, at, row + rank * TILE_M / 2, full, BOTH);
    } else {
        load_box(ring.a(stage), a, at, row, full);
    }
    if constexpr (!B_BY_COLUMNS) {
        constexpr int WIDTH = TILE_K<Operand>;
#pragma unroll
        for (int i = 0; i < WGMMA_B_LINES / WIDTH; ++i) {
            const unsigned to = ring.b(stage) + i * WIDTH * SWIZZLE_BYTES;
            if constexpr (SHARED != Shared::B) {
                load_box(to, b, column + i * WIDTH, at, full);
            } else if (i % 2 == rank) {
                load_box(to, b, column + i * WIDTH, at, full, BOTH);
            }
        }
    } else if constexpr (SHARED == Shared::B) {
        load_box(ring.b(stage) + rank * B_BYTES / 2, b, at, column + rank * TILE_N / 2, full, BOTH);
    } else {
        load_box(ring.b(stage), b, at, column, full);
    }
}

// The steps along k that are this block's, of all.
struct Part {
    int start, stop;

    __device__ Part(int steps, unsigned part, unsigned parts)
        : start(static_cast<int>(static_cast<long long>(steps) * part / parts)),
          stop(static_cast<int>(static_cast<long long>(steps) * (part + 1) / parts)) {}
};

// partials[part][tile][TILE_M][TILE_N]; one part alone stores its results. `tiles` counts those of clusters.
template <typename Operand, bool B_BY_COLUMNS, Shared SHARED, int RESIDENT>
__global__ void __launch_bounds__(THREADS, RESIDENT) __cluster_dims__(CLUSTER<SHARED>, 1, 1)
matmul_ragged_wgmma_fitted(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                           __half* __restrict__ c, float* __restrict__ partials, int m, int n, int k, long long c_row,
                           long long c_column, int group, int tiles) {
    extern __shared__ unsigned char shared[];
    constexpr int BLOCKS = CLUSTER<SHARED>, SENT_TO = RECEIVERS<SHARED>, PARTNERS = BLOCKS / SENT_TO;
    const Ring ring(shared);
    if (threadIdx.x == 0) {
        prefetch(a);
        prefetch(b);
        ring.init(READERS<SENT_TO>);
    }
    meet<SENT_TO>();  // others arrive at these barriers
    let_next_start();

    const unsigned rank = BLOCKS == 1 ? 0 : cluster_rank(), partner = PARTNERS == 1 ? 0 : rank;
    const Part part((k - 1) / TILE_K<Operand> + 1, blockIdx.y * PARTNERS + partner, gridDim.y * PARTNERS);
    const Results<__half> results{c, c_row, c_column, m, n};
    const int role = __shfl_sync(~0u, threadIdx.x / WARPGROUP, 0);  // the compiler sees that a warp agrees
    if (role == 0) {
        if constexpr (CONSUMERS > 1) {
            registers_give_back<PRODUCER_REGISTERS>();
        }
        if (threadIdx.x == 0) {
            Turn turn(1);  // of a barrier without a past the phase before the first counts as complete
            for (int tile = blockIdx.x / BLOCKS; tile < tiles; tile += gridDim.x / BLOCKS) {
                long long row, column;
                place_fitted<SHARED>(row, column, tile, rank, m, n, group);
                for (int step = part.start; step < part.stop; ++step, turn.advance()) {
                    barrier_wait(ring.empty(turn.stage), turn.parity);
                    load_fitted<Operand, B_BY_COLUMNS, SHARED>(ring, turn.stage, a, b, static_cast<int>(row),
                                                               static_cast<int>(column), step * TILE_K<Operand>, rank);
                }
            }
        }
    } else {
        if constexpr (CONSUMERS > 1) {
            registers_take<CONSUMER_REGISTERS>();
        }
        const int consumer = role - 1;
        float d[ACCUMULATORS];
        Turn turn(0);
        for (int tile = blockIdx.x / BLOCKS; tile < tiles; tile += gridDim.x / BLOCKS) {
            long long row, column;
            place_fitted<SHARED>(row, column, tile, rank, m, n, group);
            consume<Operand, B_BY_COLUMNS, SENT_TO>(ring, turn, consumer, part.stop - part.start, d);
            if constexpr (PARTNERS > 1) {
                leave_sums(ring, consumer, d);
            } else if (gridDim.y == 1) {
                store_results(results, row + consumer * WGMMA_M, column, d);
            } else {
                const long long slot = static_cast<long long>(blockIdx.y) * tiles * BLOCKS + tile * BLOCKS + rank;
                float* partial = partials + (slot * TILE_M + consumer * WGMMA_M) * TILE_N;
                store_sums(partial, row + consumer * WGMMA_M, m, d);
            }
        }
    }
    if constexpr (PARTNERS > 1) {
        cluster_sync();  // all sums lie in shared memory
        if (role > 0) {
            const int tile = blockIdx.x / BLOCKS;
            long long row, column;
            place_fitted<SHARED>(row, column, tile, rank, m, n, group);
            float* partial = partials + (static_cast<long long>(blockIdx.y) * tiles + tile) * TILE_M * TILE_N;
            join_partners<PARTNERS>(ring, rank, results, row, column, gridDim.y == 1 ? nullptr : partial);
        }
    }
    if constexpr (BLOCKS > 1) {
        cluster_sync();  // shared memory ends with the block, and others still send to it or read from it
    }
}

// Begins while the kernel above still runs, and waits for it. Not __restrict__: the sums must not be read before.
template <Shared SHARED>
__global__ void __launch_bounds__(256)
matmul_ragged_join_fitted(const float* partials, __half* c, int m, int n, long long c_row, long long c_column, int group,
                          int parts, int share) {
    long long row, column;
    constexpr int BLOCKS = RECEIVERS<SHARED>;
    place_fitted<SHARED>(row, column, blockIdx.x / BLOCKS, blockIdx.x % BLOCKS, m, n, group);
    const auto piece = [&](int p) {
        return partials + (static_cast<long long>(p) * gridDim.x + blockIdx.x) * (TILE_M * TILE_N);
    };
    wait_for_previous();
    join<TILE_M, TILE_N>(Results<__half>{c, c_row, c_column, m, n}, row, column, 0, parts, share, piece);
}
