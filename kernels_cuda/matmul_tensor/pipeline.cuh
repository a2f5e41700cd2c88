// The sums of a tile over a range of its steps along k, with STAGES tiles of a and b in shared memory: while one is
// multiplied, the others are on their way (cp.async, past the registers).

#pragma once

#include "tiles.cuh"

template <class Tile, int STAGES, Access A_ACCESS, Access B_ACCESS>
struct Pipeline {
    using T = typename Tile::T;
    Loader<A_ACCESS, T, Tile::ROWS, Tile::LINE_BYTES, Tile::THREADS> a;
    Loader<B_ACCESS, T, Tile::COLUMNS, Tile::LINE_BYTES, Tile::THREADS> b;
    unsigned char* shared;  // STAGES * Tile::STAGE_BYTES

    __device__ Pipeline(unsigned char* shared, const Operand<T>& a, const Operand<T>& b, long long row, long long column)
        : a(a, row), b(b, column), shared(shared) {}

    __device__ void fetch(int slot, int step, int end) const {
        if (step < end) {
            unsigned char* stage = shared + slot * Tile::STAGE_BYTES;
            a.template load<true>(stage, step);
            b.template load<true>(stage + Tile::A_BYTES, step);
        }
        roofline::copy_async_commit();  // a group per step, empty or not, so that the number of groups says which have come
    }

    // Adds the products of steps [first, end). All threads of the block call it; shared memory is free afterwards.
    __device__ void run(Sums<Tile>& sums, int first, int end) const {
#pragma unroll
        for (int s = 0; s < STAGES - 1; ++s) {
            fetch(s, first + s, end);
        }
        roofline::copy_async_wait<STAGES - 2>();
        __syncthreads();
        // Operands of the next instructions are read while those of the last ones are multiplied.
        Fragments<Tile, B_ACCESS> fragments[2];
        if (first < end) {
            fragments[0].load(shared, 0);
        }
        int slot = 0;
#pragma unroll 1
        for (int step = first; step < end; ++step) {
#pragma unroll
            for (int s = 0; s < Tile::STEPS; ++s) {
                if (s + 1 == Tile::STEPS) {
                    roofline::copy_async_wait<STAGES - 2>();
                    __syncthreads();  // the next tile has come for all, and nobody reads this one any more
                    slot = slot + 1 == STAGES ? 0 : slot + 1;
                }
                if (s + 1 < Tile::STEPS || step + 1 < end) {
                    fragments[(s + 1) % 2].load(shared + slot * Tile::STAGE_BYTES, (s + 1) % Tile::STEPS);
                }
                if (s == 0) {
                    fetch(slot == 0 ? STAGES - 1 : slot - 1, step + STAGES - 1, end);
                }
                sums.add(fragments[s % 2]);
            }
        }
        roofline::copy_async_wait<0>();
        __syncthreads();
    }
};
