// y = x with x off a boundary, one element per thread: a warp's 128 bytes then lie in five sectors instead of four.

__global__ void offset_copy_scalar(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i];
    }
}
