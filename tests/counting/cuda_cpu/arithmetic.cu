// Every kind of floating-point operation, once or twice per element.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Per element two fused multiplications and additions, an addition and a multiplication.
template <typename T>
__global__ void arithmetic(const T* x, T* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const T v = x[i];
        y[i] = v * v + v;
        y[n + i] = v + static_cast<T>(3);
        y[2 * n + i] = v * static_cast<T>(5);
        y[3 * n + i] = v - v * static_cast<T>(7);
    }
}

extern "C" __global__ void special(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = __expf(x[i]);
        y[n + i] = __sinf(x[i]);
        y[2 * n + i] = rsqrtf(x[i]);
        y[3 * n + i] = static_cast<float>(static_cast<int>(x[i]));
    }
}

// Never fused, by name and by rounding; a division, a square root and two elements at once.
extern "C" __global__ void by_name(const float* x, float* y, int n) {
    const int i = threadIdx.x;
    if (i < n) {
        y[i] = __fadd_rn(__fmul_rn(x[i], x[i]), 1.0f);
        y[n + i] = fmaf(x[i], x[i], 1.0f) / x[i];
        y[2 * n + i] = sqrtf(x[i]);
        const __half2 h = __floats2half2_rn(x[i], 2.0f);
        const __half2 fused = __hfma2(h, h, h);
        y[3 * n + i] = __low2float(fused) * __high2float(fused);
    }
}

// Only the lanes of a branch and the trips of a loop count.
extern "C" __global__ void branches(const float* x, float* y, int n) {
    const int i = threadIdx.x;
    if (i < n / 2) {
        float v = x[i];
        for (int k = 0; k < i; ++k) {
            v *= 1.5f;
        }
        y[i] = v;
    } else {
        y[i] = x[i] + 1.0f;
    }
}
