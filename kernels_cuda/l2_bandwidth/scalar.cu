// y[c] = sum of `passes` rows of x, `shift` apart from row c on, cyclic; one element per thread. ld.global.cg leaves L1 out.

__global__ void l2_bandwidth_scalar(const float* __restrict__ x, int rows, int shift, int passes, float* __restrict__ y) {
    int row = blockIdx.x;
    float sum = 0;
#pragma unroll 8
    for (int pass = 0; pass < passes; ++pass) {
        sum += __ldcg(x + static_cast<long long>(row) * blockDim.x + threadIdx.x);
        row += row + shift < rows ? shift : shift - rows;
    }
    y[static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}
