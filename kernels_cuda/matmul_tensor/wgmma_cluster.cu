// As wgmma_persistent.cu with clusters of blocks that share columns of b: one block's part of a stage of b is sent to
// all, so that less passes from L2 to the SMs. And what does come is kept close: tiles are walked in groups of rows, as
// many as make the tiles that run at a time square; every second tile of a block walks k backwards and every second
// group its columns, so that what is asked for first was used last.
//
// A matrix product of this size runs at the power limit: bytes that do not move are clock for the tensor cores.

#include "wgmma_roles.cuh"

// Tile `index` of a block of a cluster, in a walk over all clusters' tiles of `down` x `across`.
struct Walk {
    int down;
    int across;
    int group;  // rows of clusters' tiles that are walked column by column

    template <int CLUSTER>
    __device__ void place(int index, unsigned rank, int& row, int& column) const {
        const int per_group = group * across;
        const int turn = index / per_group;
        const int inside = index - turn * per_group;
        const int rows = min(group, down - turn * group);
        const int along = inside / rows;
        row = ((turn * group + inside - along * rows) * CLUSTER + rank) * TILE_M;
        column = (turn & 1 ? across - 1 - along : along) * TILE_N;
    }
};

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

    const Walk walk{(m + CLUSTER * TILE_M - 1) / (CLUSTER * TILE_M), (n + TILE_N - 1) / TILE_N, group};
    const unsigned rank = cluster_rank();
    const int tiles = walk.down * walk.across;
    const int first = blockIdx.x / CLUSTER;
    const int clusters = gridDim.x / CLUSTER;
    const int steps = (k + TILE_K<Operand> - 1) / TILE_K<Operand>;
    const int role = __shfl_sync(~0u, threadIdx.x / WARPGROUP, 0);  // the compiler sees that a warp agrees
    int row, column;
    if (role == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) {
            Turn turn(1);  // of a barrier without a past the phase before the first counts as complete
            bool backwards = false;
            for (int tile = first; tile < tiles; tile += clusters, backwards = !backwards) {
                walk.place<CLUSTER>(tile, rank, row, column);
                produce<Operand, B_BY_COLUMNS, CLUSTER>(ring, turn, a, b, row, column, steps, rank, backwards);
            }
        }
    } else {
        registers_take<CONSUMER_REGISTERS>();
        const int consumer = role - 1;
        typename Operand::Accumulator d[ACCUMULATORS];
        Turn turn(0);
        for (int tile = first; tile < tiles; tile += clusters) {
            consume<Operand, B_BY_COLUMNS, CLUSTER>(ring, turn, consumer, steps, d);
            walk.place<CLUSTER>(tile, rank, row, column);
            store_results<Operand>(ring, consumer, c, row, column, d);
        }
        stores_have_read();
    }
    cluster_sync();  // shared memory ends with the block, and others still send to it
}
