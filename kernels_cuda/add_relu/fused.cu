// y = max(x + 1, 0) in one kernel: the sum stays in a register, which halves the traffic and saves a launch.

#include "add_relu.cuh"

template <typename T>
__global__ void __launch_bounds__(BLOCK) add_relu_fused_scalar(const T* __restrict__ x, T* __restrict__ y, long long n) {
    stream_scalar(x, y, n, AddRelu<T>());
}

template <typename T, typename Index, bool STREAMED>
__global__ void __launch_bounds__(BLOCK) add_relu_fused(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    stream<STREAMED>(x, y, n, head, packs, AddRelu<T>());
}
