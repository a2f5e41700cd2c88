// A tile of 128 x 256 results on Hopper, by two warpgroups that take 64 rows each: what the wgmma rungs have in common.
// Other tiles by other numbers of columns and warpgroups, given to the compiler.
//
// Operands pass through a ring of stages in shared memory, each holding 128 bytes of k of 128 rows of a and of 256
// columns of b. A stage has two barriers: `full`, which the copies complete, and `empty`, which its readers do.
#pragma once

#include "wgmma.cuh"

#ifndef WGMMA_CONSUMERS
#define WGMMA_CONSUMERS 2
#endif
#ifndef WGMMA_STAGES
#define WGMMA_STAGES 4
#endif
#ifndef WGMMA_B_LINES
#define WGMMA_B_LINES WGMMA_COLUMNS  // of a stage; by rows, boxes of b are 64 columns wide whether all are used or not
#endif

constexpr int CONSUMERS = WGMMA_CONSUMERS;  // warpgroups
constexpr int TILE_M = CONSUMERS * WGMMA_M;
constexpr int TILE_N = WGMMA_N;
constexpr int STAGES = WGMMA_STAGES;
constexpr int A_BYTES = TILE_M * SWIZZLE_BYTES;
constexpr int B_BYTES = WGMMA_B_LINES * SWIZZLE_BYTES;
constexpr int STAGE_BYTES = A_BYTES + B_BYTES;
constexpr int BUFFERS = 2;  // of results, for each warpgroup
constexpr int BUFFER_BYTES = WGMMA_M * SWIZZLE_BYTES;
#ifdef WGMMA_WITHOUT_BUFFERS
constexpr int RESULT_BYTES = 0;  // they leave from the registers
#else
constexpr int RESULT_BYTES = CONSUMERS * BUFFERS * BUFFER_BYTES;
#endif

// Where things are in shared memory. The swizzle is a function of the address: stages start at multiples of 1024 bytes.
struct Ring {
    unsigned base;

    __device__ explicit Ring(const void* shared) : base((shared_address(shared) + 1023) & ~1023u) {}
    __device__ unsigned a(int stage) const { return base + stage * STAGE_BYTES; }
    __device__ unsigned b(int stage) const { return a(stage) + A_BYTES; }
    __device__ unsigned buffer(int consumer, int i) const {
        return a(STAGES) + (consumer * BUFFERS + i) * BUFFER_BYTES;
    }
    __device__ unsigned full(int stage) const { return a(STAGES) + RESULT_BYTES + 8 * stage; }
    __device__ unsigned empty(int stage) const { return full(STAGES) + 8 * stage; }

    // By one thread, before the block or cluster synchronises; `readers` arrive at each `empty`.
    __device__ void init(int readers) const {
        for (int stage = 0; stage < STAGES; ++stage) {
            barrier_init(full(stage), 1);
            barrier_init(empty(stage), readers);
        }
        barrier_init_fence();
    }
};

// A place in the ring, and the parity of the phase that is waited for there: it flips with every turn.
struct Turn {
    int stage = 0;
    unsigned parity;

    __device__ explicit Turn(unsigned first) : parity(first) {}
    __device__ void advance() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

template <typename Operand>
constexpr int TILE_K = SWIZZLE_BYTES / Operand::BYTES;

// Start the copies of both operands into a stage: rows of a from `row`, columns of b from `column`, k from `at`.
template <typename Operand, bool B_BY_COLUMNS>
__device__ __forceinline__ void load_stage(const Ring& ring, int stage, const TensorMap& a, const TensorMap& b, int row,
                                           int column, int at) {
    const unsigned full = ring.full(stage);
    barrier_expect(full, STAGE_BYTES);
    load_box(ring.a(stage), a, at, row, full);
    if constexpr (B_BY_COLUMNS) {
        load_box(ring.b(stage), b, at, column, full);
    } else {  // 128 bytes of each row of b are a box
        constexpr int WIDTH = TILE_K<Operand>;
#pragma unroll
        for (int i = 0; i < WGMMA_B_LINES / WIDTH; ++i) {
            load_box(ring.b(stage) + i * WIDTH * SWIZZLE_BYTES, b, column + i * WIDTH, at, full);
        }
    }
}

// Issue the products of one stage; 32 bytes of k at a time.
template <typename Operand, bool B_BY_COLUMNS>
__device__ __forceinline__ void multiply_stage(const Ring& ring, int stage, int consumer, bool first,
                                               typename Operand::Accumulator (&d)[ACCUMULATORS]) {
    constexpr int STEPS = SWIZZLE_BYTES / WGMMA_K_BYTES;
    constexpr int UNUSED = 16;  // an operand along k is one line wide
    // Along k lie the 32 bytes of an instruction, or as many rows of b as it takes elements of k.
    constexpr int B_STEP = B_BY_COLUMNS ? WGMMA_K_BYTES : WGMMA_K_BYTES / Operand::BYTES * SWIZZLE_BYTES;
    constexpr int B_NEXT_BOX = B_BY_COLUMNS ? UNUSED : TILE_K<Operand> * SWIZZLE_BYTES;
    const auto a = describe(ring.a(stage) + consumer * WGMMA_M * SWIZZLE_BYTES, UNUSED);
    const auto b = describe(ring.b(stage), B_NEXT_BOX);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < STEPS; ++i) {
        Operand::template multiply<B_BY_COLUMNS>(d, further(a, i * WGMMA_K_BYTES), further(b, i * B_STEP), !first || i);
    }
    wgmma_commit();
}

// ---- Results: from the accumulators through swizzled shared memory to c, in parts of 64 rows x 128 bytes. While the copy
// engine reads one buffer, the warpgroup fills the other.

template <typename Operand>
constexpr bool NARROW = Operand::BYTES == 2;  // results of 16 bits, else of 32

template <typename Operand>
constexpr int PARTS = TILE_N * (NARROW<Operand> ? 2 : 4) / SWIZZLE_BYTES;

// Two neighbouring 16-bit results to a register; 32-bit results are stored as they are.
constexpr int PAIRS = ACCUMULATORS / 2;

template <typename Operand>
__device__ __forceinline__ void pack(unsigned (&pairs)[PAIRS], const float (&d)[ACCUMULATORS]) {
#pragma unroll
    for (int i = 0; i < PAIRS; ++i) {
        pairs[i] = Operand::pack(d[2 * i], d[2 * i + 1]);
    }
}

// 16-bit results: stmatrix stores 16 x 16 of them, a lane addressing 16 bytes of one row.
__device__ __forceinline__ void stage(unsigned buffer, int part, const unsigned (&pairs)[PAIRS]) {
    constexpr int COLUMNS = SWIZZLE_BYTES / 2;
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x / 32 % 4 * 16 + lane % 16;
    const unsigned line = buffer + row * SWIZZLE_BYTES;
#pragma unroll
    for (int i = 0; i < COLUMNS; i += 16) {
        const int j = (part * COLUMNS + i) / 4;
        const int chunk = i / 8 + lane / 16;
        store_matrices(line + ((chunk ^ row % 8) << 4), pairs[j], pairs[j + 1], pairs[j + 2], pairs[j + 3]);
    }
}

// 32-bit results: a thread has pairs of neighbours. Odd rows store the columns 16 further on (modulo 32) than even rows
// do, so that half a warp, four rows, meets all 32 banks and not half of them twice.
template <typename Accumulator>
__device__ __forceinline__ void stage(unsigned buffer, int part, const Accumulator (&d)[ACCUMULATORS]) {
    constexpr int COLUMNS = SWIZZLE_BYTES / 4;
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x / 32 % 4 * 16 + lane / 4;
    const bool odd = row & 1;
    const unsigned line = buffer + row * SWIZZLE_BYTES + lane % 2 * 8;
#pragma unroll
    for (int i = 0; i < COLUMNS; i += 8) {
        const int even_columns = (part * COLUMNS + i) / 2;
        const int odd_columns = (part * COLUMNS + (i ^ 16)) / 2;
        unsigned bits[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            bits[e] = as_bits(odd ? d[odd_columns + e] : d[even_columns + e]);
        }
        const int chunk = (odd ? i ^ 16 : i) / 4 + lane % 4 / 2;
        const unsigned to = line + ((chunk ^ row % 8) << 4);
        store_pair(to, bits[0], bits[1]);
        store_pair(to + 8 * SWIZZLE_BYTES, bits[2], bits[3]);  // eight rows further
    }
}

// Store one part of the 64 x 256 results of a warpgroup at (row, column) of c. What lies outside of c is not written.
// Returns before the copy engine has read the buffer.
template <typename Value, int COUNT>
__device__ __forceinline__ void store_part(const Ring& ring, int consumer, const TensorMap& c, int row, int column,
                                           int part, const Value (&results)[COUNT]) {
    constexpr int COLUMNS = SWIZZLE_BYTES / (COUNT == PAIRS ? 2 : 4);
    const unsigned buffer = ring.buffer(consumer, part % BUFFERS);
    const bool leader = threadIdx.x % WARPGROUP == 0;
    if (leader) {
        stores_have_read<BUFFERS - 1>();
    }
    warpgroup_sync(1 + consumer);
    stage(buffer, part, results);
    shared_fence();
    warpgroup_sync(1 + consumer);
    if (leader) {
        store_box(c, column + part * COLUMNS, row + consumer * WGMMA_M, buffer);
        stores_commit();
    }
}

// All parts.
template <typename Operand>
__device__ __forceinline__ void store_all(const Ring& ring, int consumer, const TensorMap& c, int row, int column,
                                          const typename Operand::Accumulator (&d)[ACCUMULATORS]) {
    if constexpr (NARROW<Operand>) {
        unsigned pairs[PAIRS];
        pack<Operand>(pairs, d);
#pragma unroll
        for (int part = 0; part < PARTS<Operand>; ++part) {
            store_part(ring, consumer, c, row, column, part, pairs);
        }
    } else {
#pragma unroll
        for (int part = 0; part < PARTS<Operand>; ++part) {
            store_part(ring, consumer, c, row, column, part, d);
        }
    }
}
