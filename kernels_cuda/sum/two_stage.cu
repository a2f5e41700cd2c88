// total = sum of x without atomics: each block leaves its sum, one block adds those up. The order of additions does not
// depend on which block comes first, so the same input gives the same bits.
//
// On sm_90 and up the second kernel is launched while the first still runs, and waits for its results where it needs them
// (programmatic dependent launch): its start costs nothing then. Elsewhere it simply follows.

#include "sum.cuh"

__device__ inline void let_next_start() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ inline void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <typename T, typename Accumulator, int BLOCK>
__global__ void __launch_bounds__(BLOCK, 2048 / BLOCK) sum_blocks(const T* __restrict__ x, long long n, int head, Accumulator* __restrict__ partials) {
    let_next_start();
    const Accumulator sum = block_sum(thread_sum<T, Accumulator, BLOCK>(x, n, head));
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = sum;
    }
}

template <typename Accumulator>
__global__ void sum_partials(const Accumulator* partials, int count, Accumulator* total) {
    wait_for_previous();
    Accumulator sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        sum += partials[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        *total = sum;
    }
}
