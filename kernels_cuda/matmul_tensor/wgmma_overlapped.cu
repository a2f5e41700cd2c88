// As wgmma_cluster.cu, and the results of a tile are stored while the next tile is multiplied: rounded to 16 bits they
// fit into the registers beside the accumulators, so that the tensor cores wait for the rounding and for nothing else.
// 8192^3 of bf16 on an H200: 1.48 ms after 1.51, less than two starts differ (1.41 to 1.53 and 1.45 to 1.57).

#include "wgmma_walk.cuh"

// As consume(), storing a part of the tile before this, which was at (row, column), behind each of the first stages'
// products. Without such a tile `pending` is false.
template <typename Operand, bool B_BY_COLUMNS, int CLUSTER>
__device__ __forceinline__ void consume_and_store(const Ring& ring, Turn& turn, int consumer, int steps, bool pending,
                                                  const TensorMap& c, int row, int column, unsigned (&pairs)[PAIRS],
                                                  float (&d)[ACCUMULATORS]) {
    int before = 0;
#pragma unroll
    for (int i = 0; i < PARTS<Operand>; ++i) {
        if (i < steps) {
            barrier_wait(ring.full(turn.stage), turn.parity);
            multiply_stage<Operand, B_BY_COLUMNS>(ring, turn.stage, consumer, i == 0, d);
        }
        if (pending) {
            store_part(ring, consumer, c, row, column, i, pairs);
        }
        if (i < steps) {
            finish_step<CLUSTER>(ring, turn, before, i > 0);
        }
    }
    for (int i = PARTS<Operand>; i < steps; ++i) {
        barrier_wait(ring.full(turn.stage), turn.parity);
        multiply_stage<Operand, B_BY_COLUMNS>(ring, turn.stage, consumer, false, d);
        finish_step<CLUSTER>(ring, turn, before, true);
    }
    finish_tile<CLUSTER>(ring, before, d);
}

template <typename Operand, bool B_BY_COLUMNS, int CLUSTER>
__global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
matmul_tensor_wgmma_overlapped(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                               const __grid_constant__ TensorMap c, int m, int n, int k, int group) {
    extern __shared__ unsigned char shared[];
    const Ring ring(shared);
    if (threadIdx.x == 0) {
        ring.init(READERS<CLUSTER>);
    }
    cluster_sync();  // others arrive at these barriers

    const Walk<CLUSTER> walk(m, n, group);
    const int steps = (k + TILE_K<Operand> - 1) / TILE_K<Operand>;
    const int role = __shfl_sync(~0u, threadIdx.x / WARPGROUP, 0);  // the compiler sees that a warp agrees
    if (role == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) {
            produce_all<Operand, B_BY_COLUMNS>(ring, walk, a, b, steps);
        }
    } else {
        registers_take<CONSUMER_REGISTERS>();
        const int consumer = role - 1;
        float d[ACCUMULATORS];
        unsigned pairs[PAIRS];
        Turn turn(0);
        int row = 0, column = 0;
        for (int tile = walk.first(); tile < walk.tiles(); tile += walk.stride()) {
            const bool pending = tile != walk.first();
            consume_and_store<Operand, B_BY_COLUMNS, CLUSTER>(ring, turn, consumer, steps, pending, c, row, column,
                                                              pairs, d);
            pack<Operand>(pairs, d);
            walk.place(tile, row, column);
        }
        if (walk.first() < walk.tiles()) {
#pragma unroll
            for (int part = 0; part < PARTS<Operand>; ++part) {
                store_part(ring, consumer, c, row, column, part, pairs);
            }
        }
        stores_have_read();
    }
    cluster_sync();  // shared memory ends with the block, and others still send to it
}
