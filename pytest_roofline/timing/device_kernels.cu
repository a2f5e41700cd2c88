// Kernels that the timing engine itself needs. They only ever run on a GPU, so inline PTX is allowed here.

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Holds the stream until the host raises the flag: what is enqueued behind it then starts without launch latency.
// The timeout lets a launcher that waits for the device fail instead of deadlocking.
// The flag lies in pinned host memory and comes as an address, because it is no tensor of this device.
extern "C" __global__ void hold_stream(unsigned long long flag, long long timeout_ns) {
  const volatile int* released = reinterpret_cast<const volatile int*>(flag);
  const unsigned long long start = nanoseconds();
  while (!*released && nanoseconds() - start < timeout_ns) {
  }
}

// Reads n 16-byte words and writes nothing (the condition never holds): L2 ends up full of clean lines, so that the
// next kernel pays for its own traffic only and not for writing back what a flush left dirty.
extern "C" __global__ void flush_l2(const int4* words, long long n, int* sink) {
  int seen = 0;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    const int4 word = words[i];
    seen |= word.x | word.y | word.z | word.w;
  }
  if (seen) *sink = seen;
}

extern "C" __global__ void do_nothing() {}

// Two plain kernels to calibrate the gap between graph nodes on; no operation of a suite is built from them.
extern "C" __global__ void calibrate_fill(float* y, float value, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = value;
}

extern "C" __global__ void calibrate_scale(const float* x, float* y, float factor, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
