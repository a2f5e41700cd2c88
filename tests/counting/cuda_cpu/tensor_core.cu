// One warp multiplies through ldmatrix and mma.sync.

#include <cuda_fp16.h>
#include <roofline/tensor_core.cuh>

// c (16x8, fp32) = a (16x16) b (16x8), row-major.
extern "C" __global__ void multiply_f16(const __half* a, const __half* b, float* c) {
    __shared__ __align__(16) __half sa[16][24], sb[16][8];
    const int t = threadIdx.x;
    for (int i = t; i < 256; i += 32) sa[i / 16][i % 16] = a[i];
    for (int i = t; i < 128; i += 32) sb[i / 8][i % 8] = b[i];
    __syncthreads();
    unsigned ra[4], rb[2];
    roofline::ldmatrix<4>(ra, &sa[t % 16][t / 16 * 8]);
    roofline::ldmatrix<2, true>(rb, &sb[t % 16][0]);
    float zero[4] = {0, 0, 0, 0}, d[4];
    roofline::mma_m16n8k16_f16(d, ra, rb, zero);
    const int row = t / 4, column = t % 4 * 2;
    c[row * 8 + column] = d[0];
    c[row * 8 + column + 1] = d[1];
    c[(row + 8) * 8 + column] = d[2];
    c[(row + 8) * 8 + column + 1] = d[3];
}

// c (16x8) = a (16x32) b (8x32, transposed), signed bytes.
extern "C" __global__ void multiply_s8(const unsigned* a, const unsigned* b, int* c) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned ra[4] = {a[g * 8 + t], a[(g + 8) * 8 + t], a[g * 8 + t + 4], a[(g + 8) * 8 + t + 4]};
    unsigned rb[2] = {b[g * 8 + t], b[g * 8 + t + 4]};
    int zero[4] = {0, 0, 0, 0}, d[4];
    roofline::mma_m16n8k32_s8(d, ra, rb, zero);
    for (int k = 0; k < 4; ++k) c[(g + k / 2 * 8) * 8 + t * 2 + k % 2] = d[k];
}
