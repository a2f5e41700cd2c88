// y = 2 x, ILP elements per thread, all of whose loads are under way before the first is used. Shared memory that no
// thread touches keeps further blocks out of an SM.

template <int ILP>
__global__ void __launch_bounds__(128) occupancy(const float* __restrict__ x, float* __restrict__ y, long long n) {
    constexpr int BLOCK = 128;
    const long long start = static_cast<long long>(blockIdx.x) * BLOCK * ILP;
    x += start + threadIdx.x;
    y += start + threadIdx.x;
    if (start + BLOCK * ILP <= n) {
        float value[ILP];
#pragma unroll
        for (int k = 0; k < ILP; ++k) {
            value[k] = x[k * BLOCK];
        }
#pragma unroll
        for (int k = 0; k < ILP; ++k) {
            y[k * BLOCK] = 2 * value[k];
        }
        return;
    }
    for (long long i = start + threadIdx.x; i < n; i += BLOCK, x += BLOCK, y += BLOCK) {
        *y = 2 * *x;
    }
}
