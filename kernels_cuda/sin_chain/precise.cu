// y = sin(sin(... x)), `steps` of them, by the library function: two units in the last place for every argument, for
// which it pays with a reduction of the argument and a polynomial on the ordinary cores.

#include "../_chain.cuh"

template <typename T, typename Index>
__global__ void sin_chain_precise(const T* __restrict__ x, T* __restrict__ y, Index n, Index head, Index packs,
                                  int steps) {
    chain(x, y, n, head, packs, steps, [](T value) { return sinf(value); });
}
