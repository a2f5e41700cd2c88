// Loops around atomicCAS that begin with a plain read, and plain reads beside atomics that no swap confirms.
//
// -DBUG=n plants a bug in a kernel; the lines where a finding may point are marked // BUG n.

#ifndef BUG
#define BUG 0
#endif

typedef unsigned long long u64;

__device__ u64 plus(u64 bits, float v) { return (u64)__double_as_longlong(__longlong_as_double(bits) + v); }

// A sum of doubles; other memory is read between the first look and the swap.
__global__ void sum_by_swaps(const float* x, double* sum, double* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64* p = reinterpret_cast<u64*>(sum);
    u64 old = *p, seen;  // BUG 1  // BUG 2  // BUG 3  // BUG 4
    if (BUG == 1) *p = plus(old, x[i]);  // BUG 1
    if (BUG == 2) {
        out[i] = __longlong_as_double(old);
        atomicAdd(p, 1ull);  // BUG 2
    }
    if (BUG == 3) {
        out[i] = __longlong_as_double(old);
        atomicAdd(p, 0ull);  // BUG 3
        atomicCAS(p, 0ull, 1ull);
    }
    if (BUG == 4) {
        out[i] = __longlong_as_double(old);
        __syncthreads();
        atomicCAS(p, 0ull, 1ull);  // BUG 4
    }
    if (BUG) return;
    do {
        seen = old;
        old = atomicCAS(p, seen, plus(seen, x[i]));
    } while (seen != old);
}

// The same in shared memory.
__global__ void shared_sum_by_swaps(const float* x, double* sum) {
    __shared__ u64 s;
    if (threadIdx.x == 0) s = 0;
    if (BUG != 1) __syncthreads();
    u64 old = s, seen;  // BUG 1  // BUG 2
    if (BUG == 2) {
        s = plus(old, x[threadIdx.x]);  // BUG 2
        return;
    }
    do {
        seen = old;
        old = atomicCAS(&s, seen, plus(seen, x[blockIdx.x * blockDim.x + threadIdx.x]));  // BUG 1
    } while (seen != old);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, __longlong_as_double(s));
}

// Two counters of 16 bits side by side.
__global__ void count_in_halves(unsigned short* counts, unsigned short* out) {
    unsigned short* p = counts + (threadIdx.x & 1);
    unsigned short old = *p, seen;  // BUG 1
    if (BUG == 1) {
        out[threadIdx.x] = old;
        old = 0;
        if (threadIdx.x > 40) return;
        p = counts + (~threadIdx.x & 1);  // swaps elsewhere
    }
    do {
        seen = old;
        old = atomicCAS(p, seen, (unsigned short)(seen + 1));  // BUG 1
    } while (seen != old);
}

// A maximum; who sees a larger number swaps nothing.
__global__ void largest_by_swaps(const float* x, float* largest, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int* p = reinterpret_cast<int*>(largest);
    int old = *p;
    while (__int_as_float(old) < x[i]) {
        const int seen = old;
        old = atomicCAS(p, seen, __float_as_int(x[i]));  // BUG 1
        if (old == seen) break;
    }
    if (BUG == 1) out[i] = *largest;  // BUG 1
}
