// c[m, n] = a[m, k] b[k, n] on Hopper: the copy engine brings tiles of a and b into swizzled shared memory, where wgmma
// reads them; a warpgroup multiplies 64 x 256 results at a time. One tile per block; everybody waits for everything.
// 8192^3 of bf16 on an H200: 1.78 ms, after the 2.41 of tuned.cu, which is all that mma.sync reached there.

#include "wgmma_tile.cuh"

template <typename Operand, bool B_BY_COLUMNS>
__global__ void __launch_bounds__(CONSUMERS * WARPGROUP, 1)
matmul_tensor_wgmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                    const __grid_constant__ TensorMap c, int n, int k) {
    extern __shared__ unsigned char shared[];
    const Ring ring(shared);
    const bool leader = threadIdx.x == 0;
    if (leader) {
        ring.init(1);
    }
    __syncthreads();

    const int across = (n + TILE_N - 1) / TILE_N;
    const int row = blockIdx.x / across * TILE_M;
    const int column = blockIdx.x % across * TILE_N;
    const int steps = (k + TILE_K<Operand> - 1) / TILE_K<Operand>;
    if (leader) {
        for (int i = 0; i < min(steps, STAGES); ++i) {
            load_stage<Operand, B_BY_COLUMNS>(ring, i, a, b, row, column, i * TILE_K<Operand>);
        }
    }

    const int consumer = __shfl_sync(~0u, threadIdx.x / WARPGROUP, 0);  // the compiler sees that a warp agrees
    typename Operand::Accumulator d[ACCUMULATORS];
    Turn turn(0);
    for (int i = 0; i < steps; ++i, turn.advance()) {
        barrier_wait(ring.full(turn.stage), turn.parity);
        multiply_stage<Operand, B_BY_COLUMNS>(ring, turn.stage, consumer, i == 0, d);
        wgmma_wait<0>();
        __syncthreads();  // nobody reads the stage any more
        if (leader && i + STAGES < steps) {
            load_stage<Operand, B_BY_COLUMNS>(ring, turn.stage, a, b, row, column, (i + STAGES) * TILE_K<Operand>);
        }
    }
    pin(d);
    store_all<Operand>(ring, consumer, c, row, column, d);
    stores_have_read();  // shared memory ends with the block
}
