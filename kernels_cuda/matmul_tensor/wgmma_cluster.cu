// As wgmma_persistent.cu with clusters of blocks that share columns of b: each block's part of a stage of b is sent to
// all of them, so that less passes from L2 to the SMs. And what does come is kept close, see wgmma_walk.cuh. Two
// changes, not measured apart: 1.51 ms for 8192^3 of bf16 on an H200 after 1.66.
//
// A large product runs at the GPU's power limit: bytes that do not move are clock for the tensor cores.

#include "wgmma_walk.cuh"

template <typename Operand, bool B_BY_COLUMNS, int CLUSTER>
__global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
matmul_tensor_wgmma_cluster(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
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
        typename Operand::Accumulator d[ACCUMULATORS];
        Turn turn(0);
        for (int tile = walk.first(); tile < walk.tiles(); tile += walk.stride()) {
            consume<Operand, B_BY_COLUMNS, CLUSTER>(ring, turn, consumer, steps, d);
            int row, column;
            walk.place(tile, row, column);
            store_all<Operand>(ring, consumer, c, row, column, d);
        }
        stores_have_read();
    }
    cluster_sync();  // shared memory ends with the block, and others still send to it
}
