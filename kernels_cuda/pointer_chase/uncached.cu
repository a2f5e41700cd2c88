// The chain in global memory, past L1: what L2 holds is found there after the first round.

__global__ void pointer_chase_uncached(const int* __restrict__ pointers, int steps, int* __restrict__ end) {
    int position = 0;
#pragma unroll 16
    for (int step = 0; step < steps; ++step) {
        position = __ldcg(pointers + position);
    }
    *end = position;
}
