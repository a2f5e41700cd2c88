// Reads whose lines L2 evicts last, so that it evicts first what was written: device memory turns less often from reading
// to writing. On an H200 a copy of 512 MiB took 247 to 250 in place of 251 to 254 us.
//
//   evict_last<LAST>(pointer)  `pointer` to read through, as always; with LAST, L2 evicts last what is read through it
//
// Not for kernels that only read (sums became slower), nor for small ones (pytest_roofline.l2.streamed). What was read last
// stays after the kernel, too: copies of 16 MiB within L2 took 10.5 in place of 9.6 us after one of 512 MiB.
//
// Before sm_80, and on a CPU, such a read is one like others. Sources: PTX ISA, createpolicy and cache eviction priority
// hints; __nv_associate_access_property is what libcu++'s cuda::associate_access_property calls.
#pragma once

#if !defined(PYTEST_ROOFLINE_CPU) && __CUDA_ARCH__ >= 800
#define PYTEST_ROOFLINE_L2_POLICIES
extern "C" __device__ void* __nv_associate_access_property(const void* pointer, unsigned long long property);
#endif

namespace roofline {

template <bool LAST, typename T>
__device__ __forceinline__ const T* evict_last(const T* pointer) {
#ifdef PYTEST_ROOFLINE_L2_POLICIES
    if constexpr (LAST) {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        pointer = static_cast<const T*>(__nv_associate_access_property(pointer, policy));
    }
#endif
    return pointer;
}

}  // namespace roofline
