// Planted bugs whose symptoms show before they do, or elsewhere. `BUG` marks the lines where the first finding may point.

#include <cuda_fp16.h>
#include <mma.h>
#include <roofline/named_barrier.cuh>
#include <roofline/tensor_core.cuh>

using namespace nvcuda;

// Threads that do not meet the barrier read what the others have not written yet.
extern "C" __global__ void barrier_in_branch(const int* x, int* y) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = x[t];
    if (x[t] != 3) __syncthreads();  // BUG
    y[t] = s[63 - t];
}

// A warp skips the barrier, and the others read what it has not written yet.
extern "C" __global__ void barrier_of_some_warps(const int* x, int* y) {
    __shared__ int s[128];
    const int t = threadIdx.x, warp = t / 32;
    if (warp != 2) {
        s[t] = x[t];
        __syncthreads();  // BUG
    }
    y[t] = s[127 - t] + warp;
}

// Here the race is the cause: some threads see the flag before it is set, others after, and so they part.
extern "C" __global__ void exit_by_a_racing_flag(const int* x, int* y, int n) {
    __shared__ int stop;
    const int t = threadIdx.x;
    if (t == 0) stop = 0;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < n; ++k) {
        if (t == 0 && x[k] == 0) stop = 1;  // BUG
        if (stop) break;                    // BUG
        sum += x[k];
        __syncthreads();
    }
    y[t] = sum;
}

extern "C" __global__ void wmma_without_fill(const half* a, const half* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> A;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> B;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> C;
    wmma::load_matrix_sync(A, a, 16);
    wmma::load_matrix_sync(B, b, 16);
    wmma::mma_sync(C, A, B, C);  // BUG
    wmma::store_matrix_sync(c, C, 16, wmma::mem_row_major);
}

extern "C" __global__ void wmma_without_load(const half* a, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> A;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> B;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> C;
    wmma::fill_fragment(C, 0.f);
    wmma::load_matrix_sync(A, a, 16);
    wmma::mma_sync(C, A, B, C);  // BUG
    wmma::store_matrix_sync(c, C, 16, wmma::mem_row_major);
}

extern "C" __global__ void mma_without_zero(const unsigned* a, const unsigned* b, float* c) {
    const int t = threadIdx.x;
    const unsigned ra[4] = {a[t], a[t + 32], a[t + 64], a[t + 96]}, rb[2] = {b[t], b[t + 32]};
    float sum[4];
    roofline::mma_m16n8k16_f16(sum, ra, rb, sum);  // BUG
    for (int k = 0; k < 4; ++k) c[k * 32 + t] = sum[k];
}

// An address that is `offset` bytes from a shared variable, and how it is called: its overrun or any pointer.
extern "C" __global__ void beside_shared(float* y, int offset) {
    __shared__ float s[32];
    s[threadIdx.x] = y[threadIdx.x];
    const size_t address = reinterpret_cast<size_t>(s) + offset;  // a number, of which compilers think nothing
    y[threadIdx.x] = *reinterpret_cast<const float*>(address);    // BUG
}

// The first thread's own atomic hides nothing of its plain store.
extern "C" __global__ void set_beside_atomics(const int* x, int* y) {
    __shared__ int best;
    if (threadIdx.x == 0) best = -1;  // BUG
    const int largest = __reduce_max_sync(~0u, x[threadIdx.x]);
    if (threadIdx.x % 32 == 0) atomicMax(&best, largest);  // BUG
    __syncthreads();
    y[threadIdx.x] = best;
}

// A consumer skips its arrival once: the storing warp waits for it, then the consumers for that one, and the loading warp
// for them. The first to wait is nearest to the cause.
extern "C" __global__ void arrival_left_out(const int* x, int* y, int n) {
    __shared__ int in[2][32], out[2][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < n; ++k) {
        const int s = k % 2;
        if (warp == 0) {
            if (k >= 2) roofline::named_barrier_sync(3 + s, 64);
            in[s][lane] = x[k * 32 + lane];
            roofline::named_barrier_arrive(1 + s, 64);
        } else if (warp == 1) {
            roofline::named_barrier_sync(1 + s, 64);
            if (k >= 2) roofline::named_barrier_sync(7 + s, 64);
            out[s][lane] = in[s][31 - lane];
            if (k + 2 < n) roofline::named_barrier_arrive(3 + s, 64);
            if (k != 1) roofline::named_barrier_arrive(5 + s, 64);
        } else {
            roofline::named_barrier_sync(5 + s, 64);  // BUG
            y[k * 32 + lane] = out[s][lane];
            if (k + 2 < n) roofline::named_barrier_arrive(7 + s, 64);
        }
    }
}

// Half of the threads meet a barrier that the others do not, and then each half waits at its own.
extern "C" __global__ void barrier_too_many(const int* x, int* y) {
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x >= 32) __syncthreads();  // BUG
    __syncthreads();                         // BUG
    y[threadIdx.x] = s[63 - threadIdx.x];
}

// The compiler sees that the address is odd, and stores byte by byte.
extern "C" __global__ void constant_address(float* y) {
    y[threadIdx.x] = 0;
    *reinterpret_cast<float*>(0xdead0000beef) = 1;  // BUG
}
