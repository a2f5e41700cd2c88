// Reads whose lines L2 evicts last, so that it evicts first what was written: device memory turns less often from reading
// to writing. On an H200 a copy of 512 MiB took 247 to 250 in place of 251 to 254 us.
//
// Not for kernels that only read (sums became slower), nor for small ones: see STREAM_BYTES. What was read last stays after
// the kernel, too: copies of 16 MiB within L2 took 11.0 in place of 9.5 us after one of 512 MiB.
//
// Sources: PTX ISA, createpolicy and cache eviction priority hints. __nv_associate_access_property is what libcu++'s
// cuda::associate_access_property calls.

#pragma once

#ifndef PYTEST_ROOFLINE_CPU
extern "C" __device__ void* __nv_associate_access_property(const void* pointer, unsigned long long property);
#endif

// `pointer` to read through, as always; with LAST, L2 evicts last what is read through it.
template <bool LAST, typename T>
__device__ __forceinline__ const T* evict_last(const T* pointer) {
#ifndef PYTEST_ROOFLINE_CPU
    if constexpr (LAST) {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        pointer = static_cast<const T*>(__nv_associate_access_property(pointer, policy));
    }
#endif
    return pointer;
}
