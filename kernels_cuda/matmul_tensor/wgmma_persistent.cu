// As wgmma_specialised.cu with one block per SM that takes tile after tile: while results are stored, the first stages
// of the next tile already arrive, and barriers are set up once. Alone that gains nothing at 8192^3 (bf16 on an H200:
// 1.66 ms with and without, starts differ by more), where a block's start is little beside its tile. The clusters need
// it.

#include "wgmma_roles.cuh"

template <typename Operand, bool B_BY_COLUMNS>
__global__ void __launch_bounds__(THREADS, 1)
matmul_tensor_wgmma_persistent(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                               const __grid_constant__ TensorMap c, int m, int n, int k) {
    extern __shared__ unsigned char shared[];
    const Ring ring(shared);
    if (threadIdx.x == 0) {
        ring.init(READERS<1>);
    }
    __syncthreads();

    const int across = (n + TILE_N - 1) / TILE_N;
    const int tiles = (m + TILE_M - 1) / TILE_M * across;
    const int steps = (k + TILE_K<Operand> - 1) / TILE_K<Operand>;
    const int role = __shfl_sync(~0u, threadIdx.x / WARPGROUP, 0);  // the compiler sees that a warp agrees
    if (role == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) {
            Turn turn(1);  // of a barrier without a past the phase before the first counts as complete
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
                const int row = tile / across * TILE_M;
                const int column = tile % across * TILE_N;
                produce<Operand, B_BY_COLUMNS, 1>(ring, turn, a, b, row, column, steps, 0, false);
            }
        }
    } else {
        registers_take<CONSUMER_REGISTERS>();
        const int consumer = role - 1;
        typename Operand::Accumulator d[ACCUMULATORS];
        Turn turn(0);
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            consume<Operand, B_BY_COLUMNS, 1>(ring, turn, consumer, steps, d);
            store_all<Operand>(ring, consumer, c, tile / across * TILE_M, tile % across * TILE_N, d);
        }
        stores_have_read();  // shared memory ends with the block
    }
}
