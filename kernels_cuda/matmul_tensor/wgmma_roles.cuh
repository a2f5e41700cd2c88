// A warpgroup of its own loads, the others multiply: neither waits for the other as long as the ring has stages.
// Blocks of a cluster share the columns of b: each loads its part of a stage of b and sends it to all.
#pragma once

#include "wgmma_tile.cuh"

constexpr int THREADS = (1 + CONSUMERS) * WARPGROUP;
constexpr int WARPS = WARPGROUP / 32;
// 128 threads with the one and 128 to 384 with the other fit into the 64 Ki registers of an SM.
constexpr int PRODUCER_REGISTERS = CONSUMERS == 3 ? 32 : 40;
constexpr int CONSUMER_REGISTERS = CONSUMERS == 3 ? 160 : 232;

// Arrivals at an `empty`: one by each warp that reads the stage, in every block that it was sent to.
template <int CLUSTER>
constexpr int READERS = CONSUMERS * WARPS * CLUSTER;

// As load_stage, of b only the part of this block's `rank`, into the whole cluster.
template <typename Operand, bool B_BY_COLUMNS, int CLUSTER>
__device__ __forceinline__ void share_stage(const Ring& ring, int stage, const TensorMap& a, const TensorMap& b, int row,
                                            int column, int at, unsigned rank) {
    constexpr unsigned short EVERYONE = (1 << CLUSTER) - 1;
    constexpr int SHARE = TILE_N / CLUSTER;
    const unsigned full = ring.full(stage);
    barrier_expect(full, STAGE_BYTES);
    load_box(ring.a(stage), a, at, row, full);
    const unsigned to = ring.b(stage) + rank * SHARE * SWIZZLE_BYTES;
    column += rank * SHARE;
    if constexpr (B_BY_COLUMNS) {
        load_box(to, b, at, column, full, EVERYONE);
    } else {
        constexpr int WIDTH = TILE_K<Operand>;
#pragma unroll
        for (int i = 0; i < SHARE; i += WIDTH) {
            load_box(to + i * SWIZZLE_BYTES, b, column + i, at, full, EVERYONE);
        }
    }
}

// Load all stages of a tile, one thread; from the last to the first where `backwards`.
template <typename Operand, bool B_BY_COLUMNS, int CLUSTER>
__device__ __forceinline__ void produce(const Ring& ring, Turn& turn, const TensorMap& a, const TensorMap& b, int row,
                                        int column, int steps, unsigned rank, bool backwards) {
    for (int i = 0; i < steps; ++i, turn.advance()) {
        const int at = (backwards ? steps - 1 - i : i) * TILE_K<Operand>;
        barrier_wait(ring.empty(turn.stage), turn.parity);
        if constexpr (CLUSTER > 1) {
            share_stage<Operand, B_BY_COLUMNS, CLUSTER>(ring, turn.stage, a, b, row, column, at, rank);
        } else {
            load_stage<Operand, B_BY_COLUMNS>(ring, turn.stage, a, b, row, column, at);
        }
    }
}

// Tell whoever fills a stage that this warp has read it.
template <int CLUSTER>
__device__ __forceinline__ void release(const Ring& ring, int stage) {
    const int lane = threadIdx.x % 32;
    if constexpr (CLUSTER > 1) {
        if (lane < CLUSTER) {
            barrier_arrive(ring.empty(stage), lane);
        }
    } else if (lane == 0) {
        barrier_arrive(ring.empty(stage));
    }
}

// The products of a stage run while those of the next are issued, so a stage is given back one step late: `before`.
template <int CLUSTER>
__device__ __forceinline__ void finish_step(const Ring& ring, Turn& turn, int& before, bool any_before) {
    wgmma_wait<1>();
    if (any_before) {
        release<CLUSTER>(ring, before);
    }
    before = turn.stage;
    turn.advance();
}

template <int CLUSTER, typename Accumulator>
__device__ __forceinline__ void finish_tile(const Ring& ring, int before, Accumulator (&d)[ACCUMULATORS]) {
    wgmma_wait<0>();
    release<CLUSTER>(ring, before);
    pin(d);
}

// Multiply all stages of a tile, one warpgroup.
template <typename Operand, bool B_BY_COLUMNS, int CLUSTER>
__device__ __forceinline__ void consume(const Ring& ring, Turn& turn, int consumer, int steps,
                                        typename Operand::Accumulator (&d)[ACCUMULATORS]) {
    int before = 0;
    for (int i = 0; i < steps; ++i) {
        barrier_wait(ring.full(turn.stage), turn.parity);
        multiply_stage<Operand, B_BY_COLUMNS>(ring, turn.stage, consumer, i == 0, d);
        finish_step<CLUSTER>(ring, turn, before, i > 0);
    }
    finish_tile<CLUSTER>(ring, before, d);
}
