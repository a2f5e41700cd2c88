// 1024 reads per thread from shared memory, `stride` words from lane to lane, summed up.

constexpr int TILE = 1088;
constexpr int WINDOW = 32;

__global__ void shared_stride_scalar(const float* __restrict__ x, int stride, float* __restrict__ y) {
    __shared__ float tile[TILE];
    const float* __restrict__ row = x + static_cast<long long>(blockIdx.x) * TILE;
    for (int i = threadIdx.x; i < TILE; i += blockDim.x) {
        tile[i] = row[i];
    }
    __syncthreads();

    const float* start = tile + threadIdx.x % 32 * stride + threadIdx.x / 32;
    float sum = 0;
#pragma unroll 1  // unrolled, the compiler would find the words that two shifts have in common
    for (int shift = 0; shift < WINDOW; ++shift) {
#pragma unroll
        for (int word = 0; word < WINDOW; ++word) {
            sum += start[shift + word];
        }
    }
    y[static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}
