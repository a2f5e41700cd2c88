// y = x, 16 bytes per thread instead of one element: fewer instructions and fewer blocks for the same bytes, which
// matters most for i8, where a scalar warp moves a single sector at a time.

#include "packs.cuh"

template <typename T, typename Index>
__global__ void __launch_bounds__(BLOCK)
    copy_vectorised(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs) {
    copy_packs<false>(x, y, n, head, packs);
}
