// y = x with x off a boundary and y on one: a thread loads the aligned 16 bytes that its first element lies in, gets the
// next 16 from its neighbour, and stores the four elements it owes. Both sides move 128 bits per access although no
// common shift aligns them; the price is one more load per warp and SHIFT shuffles.

// SHIFT is the number of elements from the boundary before x to x.
template <int SHIFT>
__global__ void offset_copy_realigned(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const long long pack = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;  // of y
    const float4* x_packs = reinterpret_cast<const float4*>(x - SHIFT);
    const long long end = (n + SHIFT) / 4;  // packs of x from here on are cut off, and so is pack 0 where SHIFT > 0
    float4 here = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (pack >= (SHIFT > 0) && pack < end) {
        here = x_packs[pack];
    }
    float4 next = here;
    if (SHIFT > 0) {
        next.x = __shfl_down_sync(0xffffffffu, here.x, 1);
        next.y = __shfl_down_sync(0xffffffffu, here.y, 1);
        next.z = __shfl_down_sync(0xffffffffu, here.z, 1);
    }
    if (pack >= (SHIFT > 0) && pack + (SHIFT > 0) < end) {
        if (SHIFT > 0 && threadIdx.x % 32 == 31) {
            next = x_packs[pack + 1];
        }
        const float loaded[8] = {here.x, here.y, here.z, here.w, next.x, next.y, next.z, next.w};
        reinterpret_cast<float4*>(y)[pack] =
            make_float4(loaded[SHIFT], loaded[SHIFT + 1], loaded[SHIFT + 2], loaded[SHIFT + 3]);
    } else {
        for (long long i = 4 * pack; i < 4 * pack + 4 && i < n; ++i) {
            y[i] = x[i];
        }
    }
}
