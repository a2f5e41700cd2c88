// Kernels that the timing engine itself needs. They only ever run on a GPU, so inline PTX is allowed here.

#include <roofline/evict_last.cuh>

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Holds the stream until the host raises flags[0]: what is enqueued behind it then starts without launch latency. The
// timeout lets a launcher that waits for the device fail instead of deadlocking, and tells so in flags[1]. The flags
// lie in pinned host memory and come as an address, because they are no tensor of this device.
extern "C" __global__ void hold_stream(unsigned long long address, long long timeout_ns) {
  volatile int* flags = reinterpret_cast<volatile int*>(address);
  const unsigned long long start = nanoseconds();
  while (!flags[0]) {
    if (nanoseconds() - start > timeout_ns) {
      flags[1] = 1;
      return;
    }
  }
}

// Replaces what L2 holds: reads n 16-byte words and writes back `dirty` of every 64 lines of 128 bytes. The caller
// chooses the share that the timed operation itself leaves dirty: a kernel that finds L2 clean does not pay for
// writing lines back, one that finds it all dirty pays for somebody else's. The words are zero and stay zero.
extern "C" __global__ void flush_l2(int* x, long long n, int dirty) {
  int4* words = reinterpret_cast<int4*>(x);
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    const int4 word = words[i];
    if ((i >> 3) % 64 < dirty || (word.x | word.y | word.z | word.w)) words[i] = word;
  }
}

// Reads n 16-byte words so that their lines are the ones that L2 evicts last. The words are zero and stay zero.
extern "C" __global__ void read_kept(int* x, long long n) {
  const int4* words = roofline::evict_last<true>(reinterpret_cast<const int4*>(x));
  int seen = 0;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    const int4 word = words[i];
    seen |= word.x | word.y | word.z | word.w;
  }
  if (seen) *x = 0;
}

// Makes ordinary lines of 128 bytes of them again.
extern "C" __global__ void release_kept(int* x, long long lines) {
#if __CUDA_ARCH__ >= 800
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < lines; i += (long long)gridDim.x * blockDim.x)
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(x + i * 32) : "memory");
#endif
}

extern "C" __global__ void do_nothing() {}

// Extra work of a known length, to plant a slowdown: one thread lets so many cycles of the SM clock pass.
extern "C" __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

// What the SM that a block runs on says: its cycle counter and the time, as two words at its number. A second reading
// on the same SM gives the clock in between. The words lie in pinned host memory.
extern "C" __global__ void read_clocks(unsigned long long address) {
  unsigned int sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  volatile long long* words = reinterpret_cast<volatile long long*>(address);
  words[2 * sm] = clock64();
  words[2 * sm + 1] = (long long)nanoseconds();
}

// Two plain kernels to calibrate the gap between graph nodes on; no operation of a suite is built from them.
extern "C" __global__ void calibrate_fill(float* y, float value, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = value;
}

extern "C" __global__ void calibrate_scale(const float* x, float* y, float factor, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
