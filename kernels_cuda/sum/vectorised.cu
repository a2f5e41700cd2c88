// total = sum of x with 16-byte loads, and warp shuffles where the tree had a barrier per level; one atomic per block.

#include "sum.cuh"
#include "total.cuh"

template <typename T, typename Accumulator, int BLOCK>
__global__ void __launch_bounds__(BLOCK, 2048 / BLOCK) sum_vectorised(const T* __restrict__ x, long long n, int head, Accumulator* total) {
    const Accumulator sum = block_sum(thread_sum<T, Accumulator, BLOCK>(x, n, head));
    if (threadIdx.x == 0) {
        add_to(total, sum);
    }
}
