// One load per thread in the layouts that the documents compare; what a warp's request costs is counted.

struct Particle {
    float x, y, z, velocity_x, velocity_y, velocity_z, mass, charge;
};

extern "C" __global__ void shifted(const float* x, float* y, int n, int offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i + offset];
    }
}

extern "C" __global__ void strided(const float* x, float* y, int n, int stride) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i * stride];
    }
}

extern "C" __global__ void array_of_structures(const float* particles, float* mass, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        mass[i] = reinterpret_cast<const Particle*>(particles)[i].mass;
    }
}

// x[rows, k] by rows, one row per thread, four elements at a time: only right where every row starts at 16 bytes.
extern "C" __global__ void row_sums_float4(const float* x, float* sums, int rows, int k) {
    const int row = threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int i = 0; i < k / 4; ++i) {
            const float4 pack = reinterpret_cast<const float4*>(x + row * k)[i];
            sum += (pack.x + pack.y) + (pack.z + pack.w);
        }
        for (int i = k / 4 * 4; i < k; ++i) {
            sum += x[row * k + i];
        }
        sums[row] = sum;
    }
}
