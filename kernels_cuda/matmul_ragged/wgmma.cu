// What wgmma_stream_k.cu needs before it: operands whose rows the copy engine does not take are copied to where it does.

#include "../matmul_tensor/realigned.cuh"

// y = x, dense rows at any address into rows that begin at multiples of 32 bytes: a thread has 16 of them.
__device__ void align(const __half* __restrict__ x, __half* __restrict__ y, int columns, long long x_row, long long y_row,
                      long long chunk, long long chunks) {
    constexpr int WIDTH = Packs<__half>::WIDTH;
    if (chunk < chunks) {
        const int across = (columns - 1) / WIDTH + 1, at = static_cast<int>(chunk % across) * WIDTH;
        const __half* from = x + chunk / across * x_row + at;
        Packs<__half> packs;
        if (at >= WIDTH && at + 2 * WIDTH <= columns) {
            packs.read(from);
        } else {
            packs.read_edge(from, clipped<WIDTH>(columns - at));
        }
        *reinterpret_cast<uint4*>(y + chunk / across * y_row + at) = packs.chunk();
    }
}

// Both operands in one launch; the first `a_chunks` chunks are those of a.
__global__ void __launch_bounds__(256)
matmul_ragged_align(const __half* __restrict__ a, __half* __restrict__ a_to, int a_columns, long long a_row,
                    long long a_to_row, long long a_chunks, const __half* __restrict__ b, __half* __restrict__ b_to,
                    int b_columns, long long b_row, long long b_to_row, long long b_chunks) {
    const long long chunk = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (chunk < a_chunks) {
        align(a, a_to, a_columns, a_row, a_to_row, chunk, a_chunks);
    } else {
        align(b, b_to, b_columns, b_row, b_to_row, chunk - a_chunks, b_chunks);
    }
}
