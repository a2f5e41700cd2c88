// y[i] = x[i].field[0] of an array of structures: a record is exactly one 32-byte sector, so that a warp fetches 32 sectors
// for 128 useful bytes, as with a stride of 8.

struct Record {
    float field[8];
};

__global__ void strided_read_aos(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const Record* records = reinterpret_cast<const Record*>(x);
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = records[i].field[0];
    }
}
