// A copy by threads, 16 bytes each: of two addresses that a GPU can follow, wherever their memory lies.

#pragma once

// Copy byte or pack number `thread` of n bytes; both pointers are multiples of 16.
__device__ inline void copy_share(const signed char* __restrict__ source, signed char* __restrict__ target, long long n,
                                  long long thread) {
    const long long packs = n / 16;
    if (thread < packs) {
        reinterpret_cast<uint4*>(target)[thread] = reinterpret_cast<const uint4*>(source)[thread];
    }
    if (thread < n % 16) {
        target[packs * 16 + thread] = source[packs * 16 + thread];
    }
}
