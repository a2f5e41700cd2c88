// One kernel per group of instructions that the counts know by name.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void widths(const float4* x, float4* y, const float2* z, float* o, const signed char* b, const short* h, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float4 v = x[i]; float2 w = z[i]; v.x += w.x + b[i] + h[i]; v.y *= w.y; y[i] = v; o[i] = expf(v.z) + __shfl_xor_sync(~0u, v.x, 1); }
}
extern "C" __global__ void atomics(float* x, double* d, int* k, unsigned long long* q) {
  __shared__ float s[256]; __shared__ int t[8];
  s[threadIdx.x] = x[threadIdx.x]; if (threadIdx.x < 8) t[threadIdx.x] = 0; __syncthreads();
  atomicAdd(&t[threadIdx.x & 7], 1); 
  atomicAdd(x, s[threadIdx.x ^ 1]); atomicAdd(d, d[threadIdx.x] * 3.5 + 2); k[threadIdx.x] = atomicCAS(k, 1, 2); q[threadIdx.x] = atomicMax(q, 5ull);
  __syncthreads(); k[threadIdx.x + 5] = t[threadIdx.x & 7]; x[threadIdx.x+7] = atomicAdd(x+1, 2.f); x[threadIdx.x+9]=atomicExch(&s[3], 1.f);
}
extern "C" __global__ void __launch_bounds__(256) asynchronous(const half* a, const half* b, float* c) {
  __shared__ __align__(128) half s[16*16], u[16*16];
  __pipeline_memcpy_async(&s[threadIdx.x * 8], a + threadIdx.x * 8, 16); __pipeline_commit(); __pipeline_wait_prior(0);
  u[threadIdx.x] = b[threadIdx.x]; __syncthreads();
  wmma::fragment<wmma::matrix_a,16,16,16,half,wmma::row_major> fa; wmma::fragment<wmma::matrix_b,16,16,16,half,wmma::row_major> fb; wmma::fragment<wmma::accumulator,16,16,16,float> fc;
  wmma::fill_fragment(fc, 0.f); wmma::load_matrix_sync(fa, s, 16); wmma::load_matrix_sync(fb, u, 16); wmma::mma_sync(fc, fa, fb, fc); wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
extern "C" __global__ void tensor_cores(const signed char* a, const signed char* b, int* c, const double* d, const double* e, double* f) {
  wmma::fragment<wmma::matrix_a,16,16,16,signed char,wmma::row_major> fa; wmma::fragment<wmma::matrix_b,16,16,16,signed char,wmma::row_major> fb; wmma::fragment<wmma::accumulator,16,16,16,int> fc;
  wmma::fill_fragment(fc, 0); wmma::load_matrix_sync(fa, a, 16); wmma::load_matrix_sync(fb, b, 16); wmma::mma_sync(fc, fa, fb, fc); wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
  wmma::fragment<wmma::matrix_a,8,8,4,double,wmma::row_major> ga; wmma::fragment<wmma::matrix_b,8,8,4,double,wmma::row_major> gb; wmma::fragment<wmma::accumulator,8,8,4,double> gc;
  wmma::fill_fragment(gc, 0.0); wmma::load_matrix_sync(ga, d, 4); wmma::load_matrix_sync(gb, e, 8); wmma::mma_sync(gc, ga, gb, gc); wmma::store_matrix_sync(f, gc, 8, wmma::mem_row_major);
}
__device__ __noinline__ float pick(const float* p, int k) { return p[k]; }
extern "C" __global__ void local_memory(float* x, const int* k, double* d) { float a[64]; for (int i = 0; i < 64; i++) a[k[i]] = x[i]; float s = 0; for (int i = 0; i < 64; i++) s += a[k[i+64]]; x[0] = s + pick(k[7] ? a : x, k[3]); d[0] = d[1] * d[2]; d[3] = d[4] + d[5]; float* g = k[9] ? a : x; g[3] = 2; x[5]=a[4]; x[9] = atomicAdd(k[9] ? x : (float*)d, 1.f); x[10]=atomicCAS((int*)(k[10]?x:(float*)d),1,2);}
