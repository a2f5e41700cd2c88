// y = max(x + 1, 0) as a pair of kernels: the sum goes to memory and comes back.

#include "add_relu.cuh"

template <typename T>
__global__ void __launch_bounds__(BLOCK) add_relu_unfused_scalar_sum(const T* __restrict__ x, T* __restrict__ sums, long long n) {
    stream_scalar(x, sums, n, AddOne<T>());
}

template <typename T>
__global__ void __launch_bounds__(BLOCK) add_relu_unfused_scalar_relu(const T* __restrict__ sums, T* __restrict__ y, long long n) {
    stream_scalar(sums, y, n, Relu<T>());
}

template <typename T, typename Index, bool STREAMED>
__global__ void __launch_bounds__(BLOCK) add_relu_unfused_sum(const T* __restrict__ x, T* __restrict__ sums, Index n, Index head, Index packs) {
    stream<STREAMED>(x, sums, n, head, packs, AddOne<T>());
}

template <typename T, typename Index, bool STREAMED>
__global__ void __launch_bounds__(BLOCK) add_relu_unfused_relu(const T* __restrict__ sums, T* __restrict__ y, Index n, Index head, Index packs) {
    stream<STREAMED>(sums, y, n, head, packs, Relu<T>());
}
