// The sums of a tile over a range of its steps along k, with STAGES tiles of a and b in shared memory: while one is
// multiplied, the others are on their way (cp.async, past the registers).

#pragma once

#include "tiles.cuh"

template <class Tile, int STAGES, Access A_ACCESS, Access B_ACCESS>
struct Pipeline {
    static_assert(STAGES > 2, "what finish() stores must not be read before the next barrier");
    using T = typename Tile::T;
    Loader<A_ACCESS, true, T, Tile::ROWS, Tile::LINE_BYTES, Tile::THREADS> a;
    Loader<B_ACCESS, true, T, Tile::COLUMNS, Tile::LINE_BYTES, Tile::THREADS> b;
    unsigned char* shared;  // STAGES * Tile::STAGE_BYTES

    __device__ Pipeline(unsigned char* shared, const Operand<T>& a, const Operand<T>& b, long long row, long long column)
        : a(a, row), b(b, column), shared(shared) {}

    __device__ unsigned char* stage(int slot) const { return shared + slot * Tile::STAGE_BYTES; }

    __device__ void begin(int slot, int step, int end) {
        if (step < end) {
            a.begin(stage(slot), step);
            b.begin(stage(slot) + Tile::A_BYTES, step);
        }
        roofline::copy_async_commit();  // a group per step, empty or not: their number says which have come
    }

    __device__ void finish(int slot, int step, int end) {
        if (step < end) {
            a.finish(stage(slot));
            b.finish(stage(slot) + Tile::A_BYTES);
        }
    }

    // Adds the products of steps [start, end). All threads of the block call it; shared memory is free afterwards.
    __device__ void run(Sums<Tile>& sums, int start, int end) {
#pragma unroll
        for (int s = 0; s < STAGES - 1; ++s) {
            begin(s, start + s, end);
            finish(s, start + s, end);
        }
        roofline::copy_async_wait<STAGES - 2>();
        __syncthreads();
        // Operands of the next instructions are read while those of the last ones are multiplied.
        Fragments<Tile, B_ACCESS> fragments[2];
        if (start < end) {
            fragments[0].load(shared, 0);
        }
        int slot = 0, free = STAGES - 1;  // the tile at hand, and the one before it
#pragma unroll 1
        for (int step = start; step < end; ++step) {
            int next = slot;
#pragma unroll
            for (int s = 0; s < Tile::STEPS; ++s) {
                if (s + 1 == Tile::STEPS) {
                    roofline::copy_async_wait<STAGES - 2>();
                    __syncthreads();  // the next tile has come for all, and nobody reads this one any more
                    next = slot + 1 == STAGES ? 0 : slot + 1;
                }
                if (s + 1 < Tile::STEPS || step + 1 < end) {
                    fragments[(s + 1) % 2].load(stage(next), (s + 1) % Tile::STEPS);
                }
                if (s == 0) {
                    begin(free, step + STAGES - 1, end);
                }
                sums.add(fragments[s % 2]);
            }
            finish(free, step + STAGES - 1, end);
            free = slot;
            slot = next;
        }
        roofline::copy_async_wait<0>();
        __syncthreads();
    }
};
