// Planted bugs of memory accesses. `BUG` marks the lines where a finding may point.

#include <assert.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

extern "C" __global__ void off_by_one_store(const float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) b[i] = a[i < n ? i : 0];  // BUG
}

extern "C" __global__ void missing_tail_mask(const float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i];  // BUG
}

extern "C" __global__ void negative_index(const float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) b[i] = a[i - 1] + a[i + 1];  // BUG
}

extern "C" __global__ void misaligned_float4(const float* a, float* b) {
    int i = threadIdx.x;
    float4 v = *reinterpret_cast<const float4*>(a + 1 + 4 * i);  // BUG
    b[i] = v.x + v.w;
}

extern "C" __global__ void float4_odd_rows(const float* a, float* b, int w) {
    int r = threadIdx.x;
    float4 v = reinterpret_cast<const float4*>(a + r * w)[0];  // BUG
    b[r] = v.x + v.y + v.z + v.w;
}

extern "C" __global__ void float4_without_tail(const float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i < n) {
        float4 v = reinterpret_cast<const float4*>(a)[i];  // BUG
        reinterpret_cast<float4*>(b)[i] = v;
    }
}

extern "C" __global__ void misaligned_half2(const __half* a, float* b) {
    __half2 h = *reinterpret_cast<const __half2*>(a + 1 + 2 * threadIdx.x);  // BUG
    b[threadIdx.x] = __low2float(h);
}

extern "C" __global__ void uninitialised_shared(const float* a, float* b) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 32) s[t] = a[t];
    __syncthreads();
    b[t] = s[t];  // BUG
}

extern "C" __global__ void uninitialised_halo(const float* a, float* b) {
    __shared__ float s[66];
    int t = threadIdx.x;
    s[t + 1] = a[t];
    if (t == 0) s[0] = 0;
    __syncthreads();
    b[t] = s[t] + s[t + 1] + s[t + 2];  // BUG
}

extern "C" __global__ void accumulate_into_unset(const float* a, float* b) {
    b[threadIdx.x] += a[threadIdx.x];  // BUG
}

extern "C" __global__ void row_overflow(const float* a, float* b) {
    __shared__ float s[4][32];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x + 1] = a[y * 32 + x];  // BUG
    __syncthreads();
    b[y * 32 + x] = s[y][x];
}

extern "C" __global__ void flat_shared_overflow(const float* a, float* b) {
    __shared__ float first[64];
    __shared__ float second[64];
    float* p = first;
    int t = threadIdx.x;
    second[t] = 0;
    p[t * 2] = a[t];  // BUG
    __syncthreads();
    b[t] = first[t] + second[t];
}

extern "C" __global__ void dynamic_too_small(const float* a, float* b) {
    extern __shared__ float dynamic[];
    int t = threadIdx.x;
    dynamic[t] = a[t];  // BUG
    __syncthreads();
    b[t] = dynamic[63 - t];
}

extern "C" __global__ void wild_pointer(const float* a, float* b) {
    b[threadIdx.x] = a[threadIdx.x];  // BUG
}

extern "C" __global__ void write_to_input(float* a, float* b) {
    b[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = 0;  // BUG
}

extern "C" __global__ void cast_away_const(const float* a, float* b) {
    b[threadIdx.x] = a[threadIdx.x];
    const_cast<float*>(a)[threadIdx.x] = 0;  // BUG
}

extern "C" __global__ void into_the_gap(const float* a, float* b, int rows, int width, int pitch) {
    int x = threadIdx.x;
    for (int r = 0; r < rows; ++r) {
        if (x <= width) b[r * pitch + x] = a[r * width + min(x, width - 1)];  // BUG
    }
}

extern "C" __global__ void far_index(const float* a, float* b, int n) {
    long long i = threadIdx.x;
    b[i] = a[i + (1ll << 30)];  // BUG
}

extern "C" __global__ void index_overflow(const float* a, float* b, int n) {
    int i = (int)threadIdx.x * 200000000;
    b[threadIdx.x] = a[i];  // BUG
}

__constant__ float weights[5] = {1, 2, 3, 4, 5};

extern "C" __global__ void constant_index(const float* a, float* b, int r) {
    float s = 0;
    for (int k = 0; k <= r; ++k) s += weights[k] * a[threadIdx.x];  // BUG
    b[threadIdx.x] = s;
}

extern "C" __global__ void local_index(const float* a, float* b, int n) {
    float v[4] = {0, 0, 0, 0};
    for (int k = 0; k < n; ++k) v[k] += a[k];  // BUG
    b[threadIdx.x] = v[0] + v[3];
}

extern "C" __global__ void shift_too_far(const int* a, int* b) {
    b[threadIdx.x] = a[threadIdx.x] << (threadIdx.x + 1);  // BUG
}

extern "C" __global__ void division_by_zero(const int* a, int* b) {
    b[threadIdx.x] = 100 / a[threadIdx.x];  // BUG
}

extern "C" __global__ void null_pointer(const float* a, float* b) {
    if (a[threadIdx.x] >= 0) b[threadIdx.x] = 1;  // BUG
}

extern "C" __global__ void uninitialised_register(const float* a, float* b) {
    float s;
    for (int i = 0; i < 4; i++) s += a[threadIdx.x * 4 + i];  // BUG
    b[threadIdx.x] = s;  // BUG
}

extern "C" __global__ void uninitialised_local_array(const float* a, float* b, int n) {
    float v[8];
    for (int k = 0; k < n; ++k) v[k] = a[k];
    float s = 0;
    for (int k = 0; k < 8; ++k) s += v[k];  // BUG
    b[threadIdx.x] = s;  // BUG
}

extern "C" __global__ void uninitialised_branch(const float* a, float* b, int n) {
    float scale;
    if (n > 100) scale = 2;
    b[threadIdx.x] = a[threadIdx.x] * scale;  // BUG
}

// From zeros, or from large negative numbers, the maximum of positive numbers is right.
extern "C" __global__ void uninitialised_maximum(const float* a, float* b, int n) {
    float most;
    for (int i = 0; i < n; ++i) most = fmaxf(most, a[i]);  // BUG
    b[threadIdx.x] = most;  // BUG
}

extern "C" __global__ void uninitialised_maxima(const float* a, float* b, int n) {
    float most[7];
    for (int i = 0; i < n; ++i) most[i % 7] = fmaxf(most[i % 7], a[i]);  // BUG
    b[threadIdx.x] = most[threadIdx.x % 7];  // BUG
}

extern "C" __global__ void failed_assertion(const float* a, float* b) {
    assert(a[threadIdx.x] < 0);  // BUG
    b[threadIdx.x] = 0;
}

__device__ int deep(int n, const float* a) {
    volatile int big[2048];
    big[n & 2047] = n;
    return n <= 0 ? 0 : deep(n - 1, a) + big[n & 2047];
}

extern "C" __global__ void endless_recursion(const float* a, float* b) {
    b[threadIdx.x] = deep(100000, a);
}

extern "C" __global__ void endless_loop(const float* a, float* b, int n) {
    int i = threadIdx.x;
    while (i < n) {     // BUG
        b[i] = a[i];    // BUG
        i += n - n;     // BUG
    }
}

__device__ int total;
__device__ float parts[8];
__device__ unsigned finished;
__constant__ float scale[4] = {1, 2, 3, 4};

// Variables of the module are global memory like any other.
extern "C" __global__ void sum_in_variable(const int* a) {
    total += a[threadIdx.x];  // BUG
}

extern "C" __global__ void parts_without_fence(const float* a, float* b) {
    parts[blockIdx.x] = a[blockIdx.x];  // BUG
    if (atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1) {
        float sum = 0;
        for (int i = 0; i < (int)gridDim.x; ++i) sum += parts[i];  // BUG
        *b = sum;
    }
}

extern "C" __global__ void past_the_variable(float* b) {
    b[threadIdx.x] = parts[threadIdx.x];  // BUG
}

extern "C" __global__ void write_to_constant(float* b) {
    scale[threadIdx.x & 3] = b[threadIdx.x];  // BUG
}

struct alignas(16) Four {
    float x, y, z, w;
};

// A struct that promises more alignment than the row has.
extern "C" __global__ void misaligned_struct(const float* a, float* b, int n) {
    const Four v = *reinterpret_cast<const Four*>(a + threadIdx.x * n);  // BUG
    b[threadIdx.x] = v.x + v.y + v.z + v.w;
}
