// Functions of the headers that no other test uses: directed roundings, inverse functions, scans, partitions, clocks.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

// Eight results of two numbers.
extern "C" __global__ void directed(const float* a, const float* b, float* out, int n) {
    const int i = threadIdx.x;
    if (i >= n) return;
    const float x = a[i], y = b[i];
    const float results[8] = {__fadd_rd(x, y), __fadd_ru(x, y), __fadd_rz(x, y), __fmul_rd(x, y),
                              __fmul_ru(x, y), __fmul_rz(x, y), __fsub_rd(x, y), __fsub_ru(x, y)};
    for (int k = 0; k < 8; ++k) out[k * n + i] = results[k];
}

extern "C" __global__ void rounded_halves(const float* a, __half* down, __half* up, int n) {
    const int i = threadIdx.x;
    if (i >= n) return;
    down[i] = __float2half_rd(a[i]);
    up[i] = __float2half_ru(a[i]);
}

extern "C" __global__ void inverse_erf(const float* x, float* y, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = erfinvf(x[threadIdx.x]);
}

// Scans of tiles of 8 lanes, and of the lanes with an odd number.
extern "C" __global__ void scans(const int* x, int* inclusive, int* exclusive, int* odd) {
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<8>(block);
    const int i = block.thread_rank(), v = x[i];
    inclusive[i] = cg::inclusive_scan(tile, v);
    exclusive[i] = cg::exclusive_scan(tile, v, cg::plus<int>());
    const auto same = cg::binary_partition(cg::tiled_partition<32>(block), v % 2 == 1);
    odd[i] = cg::reduce(same, v, cg::greater<int>());
}

extern "C" __global__ void by_label(const int* label, const int* x, int* sums) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto same = cg::labeled_partition(warp, label[threadIdx.x]);
    const int sum = cg::reduce(same, x[threadIdx.x], cg::plus<int>());
    if (same.thread_rank() == 0) sums[label[threadIdx.x]] = sum;
}

// BUG 1 leaves out the wait.
extern "C" __global__ void staged(const float* x, float* y) {
    __shared__ __align__(16) float s[96];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, x + blockIdx.x * 96, sizeof s);
    if (BUG != 1) cg::wait(block);
    const int t = threadIdx.x;
    y[blockIdx.x * 96 + t] = s[95 - t];
}

// A thread waits by the clock, another one sets a flag meanwhile.
extern "C" __global__ void waits_by_clock(volatile int* flag, int* out) {
    if (threadIdx.x == 0) {
        const long long start = clock64();
        while (clock64() - start < 100000) {
        }
        __threadfence();
        *out = *flag;
    }
    if (threadIdx.x == 32) *flag = 5;
}
