// y[j] = sum over p < passes of x[(j + 32 p) % 1024] from shared memory, one word per lane and read: 128 bytes per warp
// and cycle is what the 32 banks give.

constexpr int TILE = 1024;
constexpr int BANKS = 32;
constexpr int UNROLL = 8;

__global__ void shared_bandwidth_scalar(const float* __restrict__ x, int passes, float* __restrict__ y) {
    __shared__ float tile[TILE + (UNROLL - 1) * BANKS];  // continued cyclically: unrolled reads need no modulo
    const float* __restrict__ row = x + static_cast<long long>(blockIdx.x) * TILE;
    for (int i = threadIdx.x; i < TILE + (UNROLL - 1) * BANKS; i += blockDim.x) {
        tile[i] = row[i % TILE];
    }
    __syncthreads();

    float sum = 0;
    int start = threadIdx.x;
    int pass = 0;
    for (; pass + UNROLL <= passes; pass += UNROLL) {
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            sum += tile[start + k * BANKS];
        }
        start = (start + UNROLL * BANKS) % TILE;
    }
    for (; pass < passes; ++pass) {
        sum += tile[start];
        start = (start + BANKS) % TILE;
    }
    y[static_cast<long long>(blockIdx.x) * TILE + threadIdx.x] = sum;
}
