// total = sum of x as in warp_shuffle with 16-byte loads, four of them in flight per thread, and registers held to what
// lets 2048 threads of an SM run; one atomic per block.

#include "sum.cuh"
#include "total.cuh"

template <typename T, typename Accumulator, int BLOCK>
__global__ void __launch_bounds__(BLOCK, 2048 / BLOCK) sum_vectorised(const T* __restrict__ x, long long n, int head, Accumulator* total) {
    const Accumulator sum = block_sum(thread_sum<T, Accumulator, BLOCK>(x, n, head));
    if (threadIdx.x == 0) {
        add_to(total, sum);
    }
}
