// y = x with x off a boundary, EACH elements per thread, a block apart, all of whose loads are in flight before the first
// store: bytes in flight are what single elements lack, and one instruction each is soon there.

template <int THREADS, int EACH>
__global__ void __launch_bounds__(THREADS)
    offset_copy_unrolled(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const long long block = static_cast<long long>(blockIdx.x) * (THREADS * EACH);
    const int left = n - block < THREADS * EACH ? static_cast<int>(n - block) : THREADS * EACH;
    x += block;
    y += block;
    float value[EACH];
    if (left == THREADS * EACH) {
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            value[k] = x[k * THREADS + threadIdx.x];
        }
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            y[k * THREADS + threadIdx.x] = value[k];
        }
    } else {
        for (int i = threadIdx.x; i < left; i += THREADS) {
            y[i] = x[i];
        }
    }
}
