// Kernels that reach for the ceilings of a device; they compute nothing of interest. n counts words of 16 bytes.

#include <roofline/evict_last.cuh>

// One 16-byte word per step and thread, grid-stride: read + write.
extern "C" __global__ void copy_words(const int* from, int* to, long long n) {
  const int4* x = reinterpret_cast<const int4*>(from);
  int4* y = reinterpret_cast<int4*>(to);
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    y[i] = x[i];
}

// One block per tile of 4 x 256 words, four loads in flight per thread before the first store.
extern "C" __global__ void copy_tiles(const int* from, int* to, long long n) {
  const int4* x = reinterpret_cast<const int4*>(from);
  int4* y = reinterpret_cast<int4*>(to);
  const long long first = blockIdx.x * 1024LL + threadIdx.x;
  int4 word[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (first + k * 256 < n) word[k] = x[first + k * 256];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (first + k * 256 < n) y[first + k * 256] = word[k];
}

// One word per thread; L2 evicts last what was read, so that memory turns less often from reading to writing.
extern "C" __global__ void copy_evict_last(const int* from, int* to, long long n) {
  const int4* x = roofline::evict_last<true>(reinterpret_cast<const int4*>(from));
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) reinterpret_cast<int4*>(to)[i] = x[i];
}

// Four loads in flight per thread, grid-stride; the store never happens, but the compiler cannot know.
extern "C" __global__ void read_words(const int* from, long long n, int* sink) {
  const int4* x = reinterpret_cast<const int4*>(from);
  int seen = 0;
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += 4 * stride) {
    int4 word[4] = {};
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (i + k * stride < n) word[k] = x[i + k * stride];
#pragma unroll
    for (int k = 0; k < 4; ++k) seen |= word[k].x ^ word[k].y ^ word[k].z ^ word[k].w;
  }
  if (seen == 0x7fffffff) *sink = seen;
}

// 16 independent chains per thread keep the FMA pipeline full; 2 x 16 x steps operations per thread.
extern "C" __global__ void multiply_add(float* y, float factor, int steps) {
  float sum[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) sum[k] = threadIdx.x + k;
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) sum[k] = sum[k] * factor + 1.0f;
  }
  float total = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) total += sum[k];
  if (total == 12345.0f) y[0] = total;
}
