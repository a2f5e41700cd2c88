// y[i] = field[i] of a structure of arrays: the values of one field are neighbours, and a warp fetches 4 sectors for its
// 128 bytes where `aos` fetches 32.

__global__ void strided_read_soa(const float* __restrict__ field, float* __restrict__ y, long long n) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = field[i];
    }
}
