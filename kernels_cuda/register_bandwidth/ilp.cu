// v = a v + b, `steps` times, all operands in registers. ILP elements per thread make as many chains that do not wait
// for one another; each has its own a and b, so an FMA reads three registers that its neighbours do not.

template <int ILP>
__global__ void __launch_bounds__(256)
register_bandwidth(const float* __restrict__ x, const float* __restrict__ a, const float* __restrict__ b, long long n,
                   int steps, float* __restrict__ y) {
    const long long first = static_cast<long long>(blockIdx.x) * blockDim.x * ILP + threadIdx.x;
    float v[ILP], factor[ILP], summand[ILP];
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
        const long long i = first + k * static_cast<int>(blockDim.x);
        v[k] = i < n ? x[i] : 0.0f;
        factor[k] = i < n ? a[i] : 0.0f;
        summand[k] = i < n ? b[i] : 0.0f;
    }
#pragma unroll 8
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int k = 0; k < ILP; ++k) {
            v[k] = __fmaf_rn(v[k], factor[k], summand[k]);
        }
    }
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
        const long long i = first + k * static_cast<int>(blockDim.x);
        if (i < n) {
            y[i] = v[k];
        }
    }
}
