// y = 2 x, ILP elements per thread, all of whose loads are under way before the first is used. Shared memory that no
// thread touches keeps further blocks out of an SM.

template <int ILP>
__global__ void __launch_bounds__(128) occupancy(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const long long first = static_cast<long long>(blockIdx.x) * blockDim.x * ILP + threadIdx.x;
    float value[ILP];
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
        const long long i = first + k * static_cast<int>(blockDim.x);
        value[k] = i < n ? x[i] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
        const long long i = first + k * static_cast<int>(blockDim.x);
        if (i < n) {
            y[i] = 2 * value[k];
        }
    }
}
