// The chain in global memory, through L1: what fits there is found there after the first round.

__global__ void pointer_chase_cached(const int* __restrict__ pointers, int steps, int* __restrict__ end) {
    int position = 0;
#pragma unroll 16
    for (int step = 0; step < steps; ++step) {
        position = __ldca(pointers + position);
    }
    *end = position;
}
