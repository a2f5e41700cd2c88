// total = sum of x without atomics: each block leaves its sum, one block adds those up. The order of additions does not
// depend on which block comes first, so the same input gives the same bits.

#include "sum.cuh"

template <typename T, typename Accumulator, int BLOCK>
__global__ void __launch_bounds__(BLOCK, 2048 / BLOCK) sum_blocks(const T* __restrict__ x, long long n, int head, Accumulator* __restrict__ partials) {
    const Accumulator sum = block_sum(thread_sum<T, Accumulator, BLOCK>(x, n, head));
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = sum;
    }
}

template <typename Accumulator>
__global__ void sum_partials(const Accumulator* __restrict__ partials, int count, Accumulator* __restrict__ total) {
    Accumulator sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        sum += partials[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        *total = sum;
    }
}
