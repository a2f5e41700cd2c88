// From the host's memory to the device's by threads, which follow an address of page-locked memory across the link.

#include "../_transfer.cuh"

__global__ void upload_zero_copy(const signed char* __restrict__ source, signed char* __restrict__ target, long long n) {
    copy_share(source, target, n, static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x);
}
