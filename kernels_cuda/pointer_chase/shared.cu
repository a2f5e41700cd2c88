// The chain in shared memory. Pointers are byte offsets there, so that a step is one load and nothing else.

constexpr int LINE = 32;
constexpr int LINES = 8192;

__global__ void pointer_chase_shared(const int* __restrict__ pointers, int lines, int steps, int* __restrict__ end) {
    __shared__ int chain[LINES];
    for (int i = threadIdx.x; i < lines; i += blockDim.x) {
        chain[i] = pointers[i * LINE] / LINE * static_cast<int>(sizeof(int));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const char* base = reinterpret_cast<const char*>(chain);
        int offset = 0;
#pragma unroll 16
        for (int step = 0; step < steps; ++step) {
            offset = *reinterpret_cast<const int*>(base + offset);
        }
        *end = offset / static_cast<int>(sizeof(int)) * LINE;
    }
}
