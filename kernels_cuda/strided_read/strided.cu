// y[i] = x[i, 0], one element per thread, the rows of x `row` elements apart: from a stride of 8 elements on, every lane
// fetches a sector of its own for the four bytes that it uses.

__global__ void strided_read_strided(const float* __restrict__ x, float* __restrict__ y, long long n, long long row) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i * row];
    }
}
