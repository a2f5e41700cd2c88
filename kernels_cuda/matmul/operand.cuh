// How a block copies its panel of one operand into shared memory, a tile of DEPTH steps at a time, by cp.async.
//
// Both operands lie there alike, tile[step][element]: a's elements are its rows, b's are its columns. Whatever their
// strides, a thread then reads four neighbouring elements of a step with one load.

#pragma once

#include <cuda_pipeline.h>
#include <roofline/async_copy.cuh>

namespace ordinary {  // cores, unlike the tensor cores, whose operands have the same names

enum Layout {
    STEPS,      // the steps of an element lie side by side, as in a row of a: copies of 4 bytes transpose them
    ELEMENTS,   // the elements of a step lie side by side, or nothing does: copies of 4 bytes
    PACKS,      // the same, in packs aligned to 16 bytes: copies of 16 bytes
    CUT_PACKS,  // the same, where the elements end within a pack: of the last, a copy takes those that exist
};

// Offset is the integer that holds the distance of any two of the tile's elements in memory.
template <int EXTENT, int DEPTH, int THREADS, Layout LAYOUT, typename Offset>
class Operand {
    static constexpr bool CUT = LAYOUT == CUT_PACKS;
    static constexpr int WIDTH = LAYOUT == PACKS || CUT ? 4 : 1;  // elements per copy
    static constexpr int BYTES = WIDTH * sizeof(float);
    static constexpr int PACKED = EXTENT / WIDTH;
    static constexpr int POWER = PACKED & -PACKED;  // of two, that divides it
    static constexpr int LANES = LAYOUT == STEPS ? THREADS / 8 : POWER < THREADS ? POWER : THREADS;  // along a step
    static constexpr int STEPS_ABREAST = THREADS / LANES;
    static constexpr int ELEMENT_COPIES = PACKED / LANES;
    static constexpr int STEP_COPIES = DEPTH / STEPS_ABREAST;

  public:
    static constexpr int COPIES = STEP_COPIES * ELEMENT_COPIES;  // of a thread, per tile
    // Words from a step to the next. The padding moves each to other banks by 4, so that a warp which transposes 8
    // steps of 4 elements, whole sectors of global memory, stores to 32 of them.
    static constexpr int PITCH = EXTENT + 4;

    // `origin` is element 0 at step 0 of the panel, of whose elements `left` are inside the matrix; at least one is.
    __device__ __forceinline__ Operand(const float* origin, long long element_stride, long long step_stride, int left)
        : from(origin), stride(LAYOUT == STEPS ? 1 : step_stride) {
        const int thread = threadIdx.x;
        first_step = LAYOUT == STEPS ? thread % STEPS_ABREAST : thread / LANES;
        first_element = (LAYOUT == STEPS ? thread / STEPS_ABREAST : thread % LANES) * WIDTH;
#pragma unroll
        for (int i = 0; i < ELEMENT_COPIES; ++i) {
            // Elements outside are those of the last one inside: computed with, never stored.
            const int last = CUT ? (left - 1) / WIDTH * WIDTH : left - WIDTH;
            const int element = min(first_element + i * LANES * WIDTH, last);
            taken[i] = min(BYTES, (left - element) * static_cast<int>(sizeof(float)));
            offset[i] = static_cast<Offset>(element * element_stride + first_step * stride);
        }
    }

    // Starts the copies number `begin` to `end` of the next tile, of whose steps `depth` exist and the rest are zeros.
    template <bool WHOLE>
    __device__ __forceinline__ void copy(float* tile, int begin = 0, int end = COPIES, int depth = DEPTH) const {
#pragma unroll
        for (int j = 0; j < STEP_COPIES; ++j) {
            const int step = first_step + j * STEPS_ABREAST;
#pragma unroll
            for (int i = 0; i < ELEMENT_COPIES; ++i) {
                if (j * ELEMENT_COPIES + i < begin || j * ELEMENT_COPIES + i >= end) {
                    continue;
                }
                float* to = tile + step * PITCH + first_element + i * LANES * WIDTH;
                const float* source = from + j * STEPS_ABREAST * stride + offset[i];
                if (CUT) {
                    const bool exists = WHOLE || step < depth;
                    roofline::copy_async<BYTES>(to, exists ? source : from, exists ? taken[i] : 0);
                } else if (WHOLE) {
                    __pipeline_memcpy_async(to, source, BYTES);
                } else {
                    __pipeline_memcpy_async(to, step < depth ? source : from, BYTES, step < depth ? 0 : BYTES);
                }
            }
        }
    }

    // Goes on to the tile `steps` further.
    __device__ __forceinline__ void advance(int steps) { from += steps * stride; }

  private:
    static_assert(LANES * STEPS_ABREAST == THREADS && ELEMENT_COPIES * LANES == PACKED, "threads divide the elements");
    static_assert(STEP_COPIES * STEPS_ABREAST == DEPTH, "threads divide the steps");

    const float* from;  // the same for all threads, unlike the offsets
    long long stride;   // from a step to the next
    Offset offset[ELEMENT_COPIES];
    int taken[ELEMENT_COPIES];  // bytes, if CUT
    int first_step, first_element;
};

}  // namespace ordinary
