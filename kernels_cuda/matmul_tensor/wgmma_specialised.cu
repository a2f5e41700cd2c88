// As wgmma.cu with the copies in the hands of a warpgroup that does nothing else: those that multiply never stop to
// load, each keeps its next products queued behind the running ones, and they wait for no one but the data. The
// registers that loading does not need go to them. 8192^3 of bf16 on an H200: 1.66 ms after 1.78.
//
// wgmma_narrow is this kernel with 64 columns per tile instead of 256, a side step: 2.89 ms there, because each byte of
// a comes four times as often. It is for matrices of so few wide tiles that SMs would have none.

#include "wgmma_roles.cuh"

template <typename Operand, bool B_BY_COLUMNS>
__global__ void __launch_bounds__(THREADS, 1)
matmul_tensor_wgmma_specialised(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                                const __grid_constant__ TensorMap c, int n, int k) {
    extern __shared__ unsigned char shared[];
    const Ring ring(shared);
    if (threadIdx.x == 0) {
        ring.init(READERS<1>);
    }
    __syncthreads();

    const int across = (n + TILE_N - 1) / TILE_N;
    const int row = blockIdx.x / across * TILE_M;
    const int column = blockIdx.x % across * TILE_N;
    const int steps = (k + TILE_K<Operand> - 1) / TILE_K<Operand>;
    const int role = __shfl_sync(~0u, threadIdx.x / WARPGROUP, 0);  // the compiler sees that a warp agrees
    if (role == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) {
            Turn turn(1);  // of a barrier without a past the phase before the first counts as complete
            produce<Operand, B_BY_COLUMNS, 1>(ring, turn, a, b, row, column, steps, 0, false);
        }
    } else {
        registers_take<CONSUMER_REGISTERS>();
        const int consumer = role - 1;
        typename Operand::Accumulator d[ACCUMULATORS];
        Turn turn(0);
        consume<Operand, B_BY_COLUMNS, 1>(ring, turn, consumer, steps, d);
        store_all<Operand>(ring, consumer, c, row, column, d);
        stores_have_read();  // shared memory ends with the block
    }
}
