// The atomic addition of a sum to the total.

#pragma once

template <typename Accumulator>
__device__ void add_to(Accumulator* total, Accumulator sum) {
    atomicAdd(total, sum);
}

// CUDA adds 64 bits atomically as unsigned integers only; in two's complement the signed sum has the same bits.
__device__ inline void add_to(long long* total, long long sum) {
    atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(sum));
}
