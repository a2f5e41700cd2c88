// One thread copies 16 bytes, of which some are read and the rest become zeros.

#include <roofline/async_copy.cuh>

__global__ void copy_some(const float* x, float* y, int elements) {
    __shared__ __align__(16) float tile[4];
    roofline::copy_async<16>(tile, x, elements * 4);
    roofline::copy_async_commit();
    roofline::copy_async_wait<0>();
    for (int i = 0; i < 4; ++i) y[i] = tile[i];
}

__global__ void copy_and_not_wait(const float* x, float* y) {
    __shared__ __align__(16) float tile[2][4];
    for (int s = 0; s < 2; ++s) {
        roofline::copy_async<16>(tile[s], x);
        roofline::copy_async_commit();
    }
    roofline::copy_async_wait<1>();
    for (int i = 0; i < 4; ++i) y[i] = tile[1][i];  // BUG
}
