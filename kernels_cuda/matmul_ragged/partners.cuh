// Blocks of a cluster that took parts of k for the same tile: each leaves its sums in its shared memory, and adds up those
// of all for a slice of the tile. No workspace, no second kernel, and the same order of additions from run to run.

#pragma once

#include "../matmul_tensor/results.cuh"
#include "../matmul_tensor/wgmma_roles.cuh"

constexpr int SUMS_PITCH = WGMMA_N + 8;  // floats: the four rows that half a warp stores to lie in different banks

__device__ __forceinline__ unsigned sum_address(const Ring& ring, int row, int column) {
    return ring.base + (row * SUMS_PITCH + column) * static_cast<int>(sizeof(float));
}

// Where the operands were, once all warpgroups have multiplied them.
__device__ __forceinline__ void leave_sums(const Ring& ring, int consumer, const float (&d)[ACCUMULATORS]) {
    if constexpr (CONSUMERS > 1) {
        asm volatile("bar.sync 1, %0;" ::"n"(CONSUMERS * WARPGROUP) : "memory");
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const unsigned to = sum_address(ring, consumer * WGMMA_M + row_of_lane() + 8 * half, column_of_lane());
#pragma unroll
        for (int i = 0; i < ACCUMULATORS; i += 4) {
            store_pair(to + 8 * i, as_bits(d[i + 2 * half]), as_bits(d[i + 2 * half + 1]));
        }
    }
}

__device__ __forceinline__ float4 load_of_partner(unsigned address, unsigned partner) {
    float4 x;
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %4, %5;\n"
        "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [remote];\n"
        "}"
        : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
        : "r"(address), "r"(partner)
        : "memory");
    return x;
}

// Four neighbours of a row of c.
__device__ __forceinline__ void store_four(const Results<__half>& c, long long row, long long column, const float4& x) {
    __half* to = c.first + row * c.next_row + column;
    if (c.next_column == 1 && column + 4 <= c.columns && reinterpret_cast<unsigned long long>(to) % 8 == 0) {
        *reinterpret_cast<uint2*>(to) = make_uint2(F16::pack(x.x, x.y), F16::pack(x.z, x.w));
    } else {
        c.store(row, column, __float2half(x.x));
        c.store(row, column + 1, __float2half(x.y));
        c.store(row, column + 2, __float2half(x.z));
        c.store(row, column + 3, __float2half(x.w));
    }
}

// The slice of this block, by its consumers: to c at (row, column), or to the dense tile `partial` if there is one.
template <int PARTNERS>
__device__ __forceinline__ void join_partners(const Ring& ring, unsigned rank, const Results<__half>& c, long long row,
                                              long long column, float* partial) {
    constexpr int FOURS = TILE_M * TILE_N / 4, SLICE = (FOURS + PARTNERS - 1) / PARTNERS;
    const int end = min(static_cast<int>(rank + 1) * SLICE, FOURS);
    for (int i = rank * SLICE + threadIdx.x - WARPGROUP; i < end; i += CONSUMERS * WARPGROUP) {
        const int down = 4 * i / TILE_N, across = 4 * i % TILE_N;
        if (row + down < c.rows && column + across < c.columns) {
            float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
            for (int p = 0; p < PARTNERS; ++p) {
                const float4 x = load_of_partner(sum_address(ring, down, across), p);
                sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
            }
            if (partial) {
                *reinterpret_cast<float4*>(partial + 4 * i) = sum;
            } else {
                store_four(c, row + down, column + across, sum);
            }
        }
    }
}
