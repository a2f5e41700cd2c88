// Kernels that would end a process: each must end as a finding. `BUG` marks the lines where one may point.

#include <cstdlib>

extern "C" __global__ void huge_frame(int* out, int n) {  // BUG
    int big[1 << 20];
    for (int i = 0; i < n; ++i) big[i * 37 % (1 << 20)] = i;
    out[threadIdx.x] = big[0];
}

__device__ int descend(int n, const int* x) {  // BUG
    volatile int here[64];  // BUG
    here[n % 64] = n;       // BUG
    return n ? descend(n + 1, x) + here[n % 64] : *x;  // BUG
}

extern "C" __global__ void deep_recursion(int* out, int n) { out[threadIdx.x] = descend(n, out); }

extern "C" __global__ void wild_store(int* out, int n) {
    int* p = reinterpret_cast<int*>(0x123456789000ull + n);
    *p = 3;  // BUG
}

extern "C" __global__ void wild_call(int* out, int n) {
    void (*f)() = reinterpret_cast<void (*)()>(0x1000ull + n);
    f();
}

extern "C" __global__ void null_load(int* out, int n) {
    const int* p = nullptr;
    out[n] = *p;  // BUG
}

extern "C" __global__ void no_memory(int* out, int n) {
    volatile int* p = static_cast<int*>(malloc(1ull << 46));
    p[n + threadIdx.x] = 1;  // BUG
    free(const_cast<int*>(p));
    if (threadIdx.x == 0) out[0] = 1;
}

extern "C" __global__ void turns_in_circles(int* out, int n) {
    int i = 0;
    while (i >= 0) i = (i + n) & 0xFFFF;  // BUG
    out[0] = i;
}

extern "C" __global__ void counts_for_ever(int* out, int n) {
    while (out[0] == 0) out[1] += n;  // BUG
}

extern "C" __global__ void gives_up(int* out, int n) {
    if (out[0] == 0) abort();  // BUG
}

extern "C" __global__ void leaves(int* out, int n) {
    if (out[0] == 0) exit(n);  // BUG
}

extern "C" __global__ void smallest_by_minus_one(int* out, int n) {
    out[0] = (-2147483647 - 1) / -n;  // BUG
}

// What a GPU still has room for: 400 KB of local memory in a thread.
extern "C" __global__ void large_frame(int* out, int n) {
    int big[100000];
    for (int i = 0; i < 100000; ++i) big[i] = i * n;
    out[threadIdx.x] = big[99999 - threadIdx.x];
}
