// y = x with x off a boundary and y on one: a thread loads the aligned 16 bytes that its first element lies in, gets the
// next 16 from its neighbour, and stores the four elements it owes. Both sides move 128 bits per access although no
// common shift aligns them; the price is one more load per warp and SHIFT shuffles.

// SHIFT is the number of elements from the boundary before x to x.
template <int SHIFT>
__global__ void offset_copy_realigned(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const long long pack = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;  // of y
    const float4* x_packs = reinterpret_cast<const float4*>(x - SHIFT);
    const long long end = (n + SHIFT) / 4;  // packs of x from here on are cut off, and so is pack 0 where SHIFT > 0
    const bool whole = pack >= (SHIFT > 0) && pack + (SHIFT > 0) < end;
    const bool last = SHIFT > 0 && threadIdx.x % 32 == 31;  // no neighbour in the warp

    // All loads come first: a short vector takes as long as the loads that wait for each other.
    float4 here = make_float4(0.0f, 0.0f, 0.0f, 0.0f), next = here;
    float edge[4];
    if (pack >= (SHIFT > 0) && pack < end) {
        here = x_packs[pack];
    }
    if (whole && last) {
        next = x_packs[pack + 1];
    }
    if (!whole) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            edge[k] = 4 * pack + k < n ? x[4 * pack + k] : 0.0f;
        }
    }
    if (SHIFT > 0) {
        const float x_next = __shfl_down_sync(0xffffffffu, here.x, 1);
        const float y_next = __shfl_down_sync(0xffffffffu, here.y, 1);
        const float z_next = __shfl_down_sync(0xffffffffu, here.z, 1);
        if (!last) {
            next = make_float4(x_next, y_next, z_next, 0.0f);
        }
    }
    if (whole) {
        const float loaded[8] = {here.x, here.y, here.z, here.w, next.x, next.y, next.z, next.w};
        reinterpret_cast<float4*>(y)[pack] =
            make_float4(loaded[SHIFT], loaded[SHIFT + 1], loaded[SHIFT + 2], loaded[SHIFT + 3]);
    } else {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (4 * pack + k < n) {
                y[4 * pack + k] = edge[k];
            }
        }
    }
}
