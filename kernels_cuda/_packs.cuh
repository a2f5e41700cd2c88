// Packs of 16 bytes, the widest access of one thread, and the elements beside them.
//
// A 128-bit access must be 16-byte aligned. A kernel on packs therefore gets `head`, the number of elements before the
// first boundary, the same for all its vectors, and the number of packs from there on. Its threads work on items: the
// packs first, then the elements of head and tail, of which there are fewer than two packs; where the vectors have no
// common boundary, every element is head. Index has 32 bits wherever they do.

#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr unsigned int BLOCK = 256;  // threads; known here, a kernel need not fetch it before it can begin

template <typename T>
constexpr int WIDTH = sizeof(uint4) / sizeof(T);

template <typename T>
__device__ const uint4* packs_from(const T* first) {
    return reinterpret_cast<const uint4*>(first);
}

template <typename T>
__device__ uint4* packs_from(T* first) {
    return reinterpret_cast<uint4*>(first);
}

// The pack of f(x[k]).
template <typename T, typename F>
__device__ uint4 map_pack(uint4 x, F f) {
    T* x_element = reinterpret_cast<T*>(&x);
#pragma unroll
    for (int k = 0; k < WIDTH<T>; ++k) {
        x_element[k] = f(x_element[k]);
    }
    return x;
}

// The pack of f(x[k], y[k]).
template <typename T, typename F>
__device__ uint4 map_packs(uint4 x, uint4 y, F f) {
    const T* x_element = reinterpret_cast<const T*>(&x);
    T* y_element = reinterpret_cast<T*>(&y);
#pragma unroll
    for (int k = 0; k < WIDTH<T>; ++k) {
        y_element[k] = f(x_element[k], y_element[k]);
    }
    return y;
}

// Calls pack(i) or element(e), whichever item `i` is; nothing for an item past the last. Index is unsigned.
//
// Two conditions instead of one with two sides: the compiler then puts the packs first, where their threads run into
// them, and not behind a jump to instructions that have to be fetched.
template <typename T, typename Index, typename Pack, typename Element>
__device__ void for_item(Index i, Index n, Index head, Index packs, Pack pack, Element element) {
    if (i < packs) {
        pack(i);
    }
    const Index edge = i - packs;  // of a pack: more than any vector has
    const Index whole = packs * WIDTH<T>;
    if (edge < n - whole) {
        element(edge < head ? edge : edge + whole);
    }
}

// The item of this thread, of one per thread.
template <typename T, typename Index, typename Pack, typename Element>
__device__ void for_own_item(Index n, Index head, Index packs, Pack pack, Element element) {
    for_item<T>(static_cast<Index>(blockIdx.x) * BLOCK + threadIdx.x, n, head, packs, pack, element);
}

// This thread's items, a block apart, of a tile of UNROLL * BLOCK items per block. A tile of packs only goes to
// tile(first), which issues all its loads before it uses the first.
template <typename T, int UNROLL, typename Index, typename Tile, typename Pack, typename Element>
__device__ void for_own_items(Index n, Index head, Index packs, Tile tile, Pack pack, Element element) {
    const Index start = static_cast<Index>(blockIdx.x) * (BLOCK * UNROLL);
    if (__builtin_expect(start + BLOCK * UNROLL <= packs, 1)) {
        tile(start + threadIdx.x);
    } else {
        for (int u = 0; u < UNROLL; ++u) {
            for_item<T>(start + u * BLOCK + threadIdx.x, n, head, packs, pack, element);
        }
    }
}
