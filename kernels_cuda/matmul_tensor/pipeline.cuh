// The sums of a tile over a range of its steps along k, with STAGES tiles of a and b in shared memory: while one is
// multiplied, the others are on their way (cp.async, past the registers).

#pragma once

#include "tiles.cuh"

template <class Tile, int STAGES, Access A_ACCESS, Access B_ACCESS>
struct Pipeline {
    static_assert(STAGES > 2, "what finish() stores must not be read before the next barrier");
    using T = typename Tile::T;
    using Operands = Fragments<Tile, B_ACCESS>;
    Loader<A_ACCESS, true, T, Tile::ROWS, Tile::LINE_BYTES, Tile::THREADS> a;
    Loader<B_ACCESS, true, T, Tile::COLUMNS, Tile::LINE_BYTES, Tile::THREADS> b;
    unsigned char* shared;  // STAGES * Tile::STAGE_BYTES

    __device__ Pipeline(unsigned char* shared, const Operand<T>& a, const Operand<T>& b, long long row, long long column)
        : a(a, row), b(b, column), shared(shared) {}

    __device__ unsigned char* stage(int slot) const { return shared + slot * Tile::STAGE_BYTES; }

    __device__ void begin(int slot, int step, int end, int part, int parts) {
        if (step < end) {
            a.begin(stage(slot), step, part, parts);
            b.begin(stage(slot) + Tile::A_BYTES, step, part, parts);
        }
    }

    __device__ void finish(int slot, int step, int end) {
        if (step < end) {
            a.finish(stage(slot));
            b.finish(stage(slot) + Tile::A_BYTES);
        }
    }

    // Adds the products of steps [start, end). All threads of the block call it; shared memory is free afterwards.
    __device__ void run(Sums<Tile>& sums, int start, int end) {
        prefetch(start, end);
        add_products(sums, start, end);
    }

    // The first tiles of run(), for those who have something to do until they come.
    __device__ void prefetch(int start, int end) {
#pragma unroll
        for (int s = 0; s < STAGES - 1; ++s) {
            begin(s, start + s, end, 0, 1);
            finish(s, start + s, end);
            roofline::copy_async_commit();  // a group per step, empty or not: their number says which have come
        }
    }

    // The rest of run().
    __device__ void add_products(Sums<Tile>& sums, int start, int end) {
        roofline::copy_async_wait<STAGES - 2>();
        __syncthreads();
        Operands operands[2];
        if (start < end) {
            operands[0].load(shared, 0);
        }
        int slot = 0, free = STAGES - 1;  // the tile at hand, and the one before it
#pragma unroll 1
        for (int step = start; step < end; ++step) {
            roofline::copy_async_wait<STAGES - 3>();
            __syncthreads();  // the next tile has come for all, and nobody reads the one before any more
            const int after = slot + 1 == STAGES ? 0 : slot + 1;
            const int next = step + 1 < end ? after : slot;  // of the last tile something is read twice
#pragma unroll
            for (int s = 0; s < Tile::STEPS; ++s) {
                // Not all copies at once: what waits for L2 holds up the reads behind it.
                begin(free, step + STAGES - 1, end, s, Tile::STEPS);
                const bool last = s + 1 == Tile::STEPS;
                multiply(sums, operands[s % 2], operands[(s + 1) % 2], stage(last ? next : slot), last ? 0 : s + 1);
            }
            finish(free, step + STAGES - 1, end);
            roofline::copy_async_commit();
            free = slot;
            slot = after;
        }
        roofline::copy_async_wait<0>();
        __syncthreads();
    }

    // Multiplies what is in registers, and reads the operands of the next instructions in between. The barrier stands
    // before both: behind it, the compiler would leave nothing to do while the reads are on their way.
    static __device__ void multiply(Sums<Tile>& sums, const Operands& now, Operands& next, const unsigned char* stage,
                                    int step) {
#pragma unroll
        for (int part = 0; part < Operands::PARTS; ++part) {
            next.load(stage, step, part);
            if (part < Operands::ROWS) {
                sums.add(now, part);
            }
        }
    }
};
