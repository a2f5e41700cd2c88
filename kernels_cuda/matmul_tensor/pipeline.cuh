// The sums of a tile over a range of its steps along k, with STAGES tiles of a and b in shared memory: while one is
// multiplied, the others are on their way (cp.async, past the registers).

#pragma once

#include "tiles.cuh"

template <class Tile, int STAGES, Access A_ACCESS, Access B_ACCESS>
struct Pipeline {
    static_assert(STAGES > 1 && Tile::STEPS > 1, "a tile is copied while another one is multiplied, before its last step");
    using T = typename Tile::T;
    using Operands = Fragments<Tile, B_ACCESS>;
    using LoaderOfA = Loader<A_ACCESS, true, T, Tile::ROWS, Tile::LINE_BYTES, Tile::THREADS>;
    using LoaderOfB = Loader<B_ACCESS, true, T, Tile::COLUMNS, Tile::LINE_BYTES, Tile::THREADS>;
    // What waits in registers for its place in shared memory leaves none for operands that are read ahead.
    static constexpr bool HELD = LoaderOfA::HELD || LoaderOfB::HELD;
    static constexpr int STEPS = Tile::STEPS, NEXT = Tile::STAGE_BYTES, LAST = (STAGES - 1) * NEXT;
    LoaderOfA a;
    LoaderOfB b;
    unsigned char* shared;  // STAGES * Tile::STAGE_BYTES

    __device__ Pipeline(unsigned char* shared, const Operand<T>& a, const Operand<T>& b, long long row, long long column)
        : a(a, row), b(b, column), shared(shared) {}

    // Adds the products of steps [start, end). All threads of the block call it; shared memory is free afterwards.
    __device__ void run(Sums<Tile>& sums, int start, int end) {
        prefetch(start, end);
        add_products(sums, start, end);
    }

    // The first tiles of run(), for those who have something to do until they come.
    __device__ void prefetch(int start, int end) {
        a.seek(start);
        b.seek(start);
#pragma unroll
        for (int s = 0; s < STAGES - 1; ++s) {
            if (start + s < end) {
                begin<false>(s * NEXT, start + s, 0, 1);
                finish(s * NEXT);
            }
            roofline::copy_async_commit();  // a group per step, empty or not: their number says which have come
        }
    }

    // The rest of run().
    __device__ void add_products(Sums<Tile>& sums, int start, int end) {
        roofline::copy_async_wait<STAGES - 2>();
        __syncthreads();
        if constexpr (HELD) {
            add_held(sums, start, end);
        } else {
            add_ahead(sums, start, end);
        }
        roofline::copy_async_wait<0>();
        __syncthreads();
    }

private:
    __device__ void add_held(Sums<Tile>& sums, int start, int end) {
        int here = 0;  // bytes to the tile at hand
#pragma unroll 1
        for (int step = start; step < end; ++step) {
            multiply_held(sums, here, step, step + STAGES - 1 < end);
            here = here == LAST ? 0 : here + NEXT;
        }
    }

    __device__ void add_ahead(Sums<Tile>& sums, int start, int end) {
        Operands operands[2];
        if (start < end) {
            operands[0].load(shared, 0);
        }
        int step = start;
        if constexpr (LoaderOfA::FAST && LoaderOfB::FAST) {
            // Once around all stages: their addresses are known to the compiler, and copies of whole tiles ask nothing.
            // Between two tensor core instructions there is then half an instruction of something else, not two.
            const int whole = min(end, min(a.whole(), b.whole())) - (STAGES - 1);
#pragma unroll 1
            for (; step + STAGES <= whole; step += STAGES) {
#pragma unroll
                for (int s = 0; s < STAGES; ++s) {
                    multiply_tile<true>(sums, operands, s * NEXT, step, true, false);
                }
            }
        }
        int here = 0;  // bytes to the tile at hand
#pragma unroll 1
        for (; step < end; ++step) {
            multiply_tile<false>(sums, operands, here, step, step + STAGES - 1 < end, step + 1 == end);
            here = here == LAST ? 0 : here + NEXT;
        }
    }

    template <bool WHOLE>
    __device__ void begin(int to, int step, int part, int parts) {
        if constexpr (WHOLE) {
            a.begin_whole(shared + to, part, parts);
            b.begin_whole(shared + to + Tile::A_BYTES, part, parts);
        } else {
            a.begin(shared + to, step, part, parts);
            b.begin(shared + to + Tile::A_BYTES, step, part, parts);
        }
    }

    __device__ void finish(int to) {
        a.finish(shared + to);
        b.finish(shared + to + Tile::A_BYTES);
        a.advance();
        b.advance();
    }

    // Multiplies the tile at `here`, while a later one is copied to the place of the one before it if `copies`.
    __device__ __forceinline__ void multiply_held(Sums<Tile>& sums, int here, int step, bool copies) {
        const int free = here == 0 ? LAST : here - NEXT;
#pragma unroll
        for (int s = 0; s < STEPS; ++s) {
            if (copies && s == STEPS - 1) {
                finish(free);
            }
            Operands operands;
            operands.load(shared + here, s);
            sums.add(operands);
            if (copies && s < STEPS - 1) {
                begin<false>(free, step + STAGES - 1, s, STEPS - 1);
            }
        }
        roofline::copy_async_commit();
        roofline::copy_async_wait<STAGES - 2>();
        __syncthreads();  // the next tile has come for all, and all have what they need of this one
    }

    // The same for a tile whose first operands are in registers; reads the first operands of the next, unless this is the
    // `last`.
    template <bool WHOLE>
    __device__ __forceinline__ void multiply_tile(Sums<Tile>& sums, Operands (&operands)[2], int here, int step,
                                                  bool copies, bool last) {
        const int free = here == 0 ? LAST : here - NEXT;
#pragma unroll
        for (int s = 0; s < STEPS; ++s) {
            int from = here;
            if (s == STEPS - 1) {
                if (copies) {
                    finish(free);
                }
                roofline::copy_async_commit();
                roofline::copy_async_wait<STAGES - 2>();
                __syncthreads();  // the next tile has come for all, and all have what they need of this one
                from = last ? here : here == LAST ? 0 : here + NEXT;  // of the last tile something is read twice
            }
            multiply(sums, operands[s % 2], operands[(s + 1) % 2], shared + from, (s + 1) % STEPS);
            if (copies && s < STEPS - 1) {  // not all at once: what waits for L2 holds up the reads behind it
                begin<WHOLE>(free, step + STAGES - 1, s, STEPS - 1);
            }
        }
    }

    // Multiplies what is in registers, and reads the operands of the next instructions in between.
    static __device__ __forceinline__ void multiply(Sums<Tile>& sums, const Operands& now, Operands& next,
                                                    const unsigned char* stage, int step) {
#pragma unroll
        for (int part = 0; part < Operands::PARTS; ++part) {
            next.load(stage, step, part);
            if (part < Operands::ROWS) {
                sums.add(now, part);
            }
        }
    }
};
