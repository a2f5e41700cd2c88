// Both directions by the threads of one kernel: even blocks bring data up, odd ones down.

#include "../_transfer.cuh"

__global__ void exchange_zero_copy(const signed char* __restrict__ up, const signed char* __restrict__ down,
                                   signed char* __restrict__ up_target, signed char* __restrict__ down_target,
                                   long long n) {
    const long long thread = static_cast<long long>(blockIdx.x / 2) * blockDim.x + threadIdx.x;
    if (blockIdx.x % 2 == 0) {
        copy_share(up, up_target, n, thread);
    } else {
        copy_share(down, down_target, n, thread);
    }
}
