"""Programs as people write them (``programs_*.cu``): launches, right results, and the findings of their planted bugs.

``test_programs.py`` checks them, ``benchmarks/ncu_counts.py`` compares their counts with hardware counters.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from pytest_roofline.counting.cuda_cpu import FaultKind as K
from tests.counting.cuda_cpu.algorithm import Algorithm, close, f32, integers, n, rng, softmax, sparse, spmv, zeros
from tests.counting.cuda_cpu.program_data import (
    F16,
    F64,
    I8,
    I32,
    I64,
    U32,
    above,
    attention,
    connected,
    convolved,
    counted_keys,
    cross_entropy,
    digits,
    dp4a,
    edges,
    equal,
    escaped,
    f16,
    field,
    forces,
    generation,
    gradient,
    in_double,
    int4,
    life_board,
    marched,
    normalised,
    ordered,
    pooled,
    random_words,
    rotated,
    sampled,
    scattered,
    segment_max,
    segments,
    solved,
    systems,
    wide,
)

HERE = Path(__file__).parent
ROWS, TILES, GRID, WARPS, GROUPS = (
    HERE / f"programs_{name}.cu" for name in ("rows", "tiles", "grid", "warps", "groups")
)
S_RACE, G_RACE, OOB, UB, UNINIT = (
    K.SHARED_RACE, K.GLOBAL_RACE, K.OUT_OF_BOUNDS, K.UNDEFINED_BEHAVIOUR, K.UNINITIALISED_READ,
)  # fmt: skip


PROGRAMS = [
    Algorithm(
        ROWS, "sum_and_squares<128>", (128,), lambda: (f32(1603), zeros(2), n(1603)),
        close(1, lambda a: [wide(a[0]).sum(), (wide(a[0]) ** 2).sum()]), ({S_RACE}, {OOB}), grid=(3,),
    ),
    Algorithm(
        ROWS, "softmax_row", (96,), lambda: (4 * f16(3, 300), zeros(3, 300, kind=F16), n(300)),
        close(1, lambda a: softmax(wide(a[0])), 2e-3), ({S_RACE}, {OOB}), grid=(3,), shared=1200,
    ),
    Algorithm(
        ROWS, "layernorm_welford", (64,),
        lambda: (
            torch.tensor(f32(5, 130)).bfloat16(), f32(130), f32(130), torch.zeros(5, 130).bfloat16(), n(5), n(130),
            np.float32(1e-5),
        ),
        normalised, ({K.UNINITIALISED_REGISTER}, {OOB, G_RACE}), grid=(3,),
    ),
    Algorithm(
        ROWS, "cross_entropy", (128,),
        lambda: (4 * f32(6, 333), np.array([-100, 0, 5, 332, 7, 9], I64), zeros(6), n(333)),
        close(2, cross_entropy, atol=1e-5), ({OOB}, {S_RACE, UNINIT}), grid=(6,),
    ),
    Algorithm(
        ROWS, "scan_warps", (1024,), lambda: (random_words(1000) >> U32(20), zeros(1000, kind=U32), n(1000)),
        equal(1, lambda a: a[0].cumsum()), ({S_RACE}, {OOB, UB}),
    ),
    Algorithm(
        ROWS, "column_sums", (32, 8), lambda: (f32(45, 70), zeros(70), n(45), n(70)),
        close(1, lambda a: wide(a[0]).sum(0)), ({OOB}, {S_RACE}), grid=(3,),
    ),
    Algorithm(
        ROWS, "dot_last_block", (64,),
        lambda: (wide(f32(900)), wide(f32(900)), zeros(4, kind=F64), zeros(1, kind=U32), zeros(1, kind=F64), n(900)),
        close(4, lambda a: [a[0] @ a[1]]), ({G_RACE}, {G_RACE}), grid=(4,),
    ),
    Algorithm(ROWS, "segment_max", (64,), segments, segment_max, ({OOB}, {K.WRONG_MASK}), grid=(2,)),
    Algorithm(
        ROWS, "rotate_pairs", (64,), lambda: (f16(5, 2, 32), f32(5, 16), n(2), n(32)),
        close(0, rotated, 2e-3, 1e-3), ({G_RACE}, {G_RACE, OOB}), grid=(5,),
    ),
    Algorithm(
        TILES, "convolve_tile<16, 8>", (16, 8), lambda: (f32(30, 37), zeros(30, 37), n(37), n(30)),
        close(1, lambda a: convolved(a[0])), ({OOB}, {S_RACE, UNINIT}), grid=(3, 4),
    ),
    Algorithm(
        TILES, "stencil_march", (32, 8), lambda: (f32(6, 12, 40), zeros(6, 12, 40), n(40), n(12), n(6)),
        close(1, lambda a: marched(a[0]), 1e-4, 1e-5), ({S_RACE}, {OOB}), grid=(2, 2),
    ),
    Algorithm(
        TILES, "transpose_swizzled<float>", (32, 8), lambda: (f32(50, 70), zeros(70, 50), n(50), n(70)),
        equal(1, lambda a: a[0].T), ({OOB, UNINIT}, {UB, UNINIT, OOB}), grid=(3, 2),
    ),
    Algorithm(
        TILES, "transpose_half2", (32, 8), lambda: (f16(64, 128), zeros(128, 64, kind=F16), n(64), n(128)),
        equal(1, lambda a: a[0].T), ({K.MISALIGNED},), grid=(2, 1),
    ),
    Algorithm(
        TILES, "sgemm_prefetch", (256,), lambda: (f32(64, 48), f32(48, 128), zeros(64, 128), n(64), n(128), n(48)),
        close(2, lambda a: wide(a[0]) @ wide(a[1])), ({S_RACE}, {OOB}), grid=(2, 1),
    ),
    Algorithm(
        TILES, "matvec_ring", (128,), lambda: (f32(8, 640), f32(640), zeros(8), n(640)),
        close(2, lambda a: wide(a[0]) @ wide(a[1])), ({S_RACE, K.ASYNC_COPY}, {K.ASYNC_COPY}), grid=(2,),
    ),
    Algorithm(
        TILES, "nbody", (64,), lambda: (f32(150, 4), zeros(150, 3), n(150)),
        close(1, lambda a: forces(a[0]), 1e-3, 1e-2), ({OOB}, {S_RACE}), grid=(3,),
    ),
    Algorithm(
        TILES, "max_pool", (32,), lambda: (f32(3, 10, 15), zeros(3, 5, 7), zeros(3, 5, 7, kind=I8), n(3), n(10), n(15)),
        pooled, ({OOB, G_RACE}, {OOB}), grid=(1, 5, 3),
    ),
    Algorithm(TILES, "gauss_jordan", (16, 16), systems, close(2, solved), ({S_RACE}, {S_RACE}), grid=(3,)),
    Algorithm(
        GRID, "radix_count", (128,), lambda: (random_words(500), zeros(16, 4, kind=U32), n(500), n(4)),
        equal(1, digits), ({S_RACE, UNINIT}, {OOB, UB}), grid=(4,),
    ),
    Algorithm(
        GRID, "radix_scatter", (128,), scattered, equal(2, lambda a: a[0][np.argsort(a[0] >> 4 & 15, kind="stable")]),
        ({S_RACE}, {OOB, G_RACE}), grid=(4,),
    ),
    Algorithm(
        GRID, "scan_packed", (256,),
        lambda: (random_words(1500) >> U32(20), zeros(1500, kind=U32), zeros(6, kind=np.uint64), n(1500)),
        equal(1, lambda a: a[0].cumsum()), ({G_RACE}, {S_RACE, UNINIT}), grid=(6,),
    ),
    Algorithm(
        GRID, "row_queue", (64,), lambda: (f32(9, 100) - 0.5, zeros(9), zeros(1, kind=I32), n(9), n(100)),
        close(1, lambda a: abs(wide(a[0])).sum(1)), ({S_RACE, UNINIT}, {G_RACE}), grid=(3,),
    ),
    Algorithm(GRID, "hook_components", (32,), edges, connected, ({G_RACE},), grid=(2,)),
    Algorithm(
        GRID, "count_keys", (64,),
        lambda: (
            rng().integers(1, 60, 300, np.uint64), zeros(128, kind=np.uint64), zeros(128, kind=U32), n(300),
            np.uint32(127),
        ),
        counted_keys, ({G_RACE}, {OOB}), grid=(2,),
    ),
    Algorithm(
        GRID, "spmv_tiles<8>", (64,),
        lambda: (*in_double(sparse(13, 40)), wide(f32(40)), zeros(13, kind=F64), n(13)),
        close(4, lambda a: spmv(*a[:4])), ({OOB}, {OOB}), grid=(2,),
    ),
    Algorithm(
        GRID, "merge_sorted", (64,), lambda: (ordered(50, 90), ordered(50, 70), zeros(160, kind=I32), n(90), n(70)),
        equal(2, lambda a: np.sort(np.concatenate([a[0], a[1]]))), ({OOB}, {G_RACE}), grid=(3,),
    ),
    Algorithm(
        GRID, "life", (8, 8), life_board, equal(1, lambda a: generation(a[0])), ({OOB}, {OOB}), grid=(2, 3),
    ),
    Algorithm(
        GRID, "byte_histogram", (128,), lambda: (random_words(300, 4), zeros(256, kind=U32), n(300)),
        equal(1, lambda a: np.bincount(a[0].view(np.uint8).ravel(), minlength=256)), ({S_RACE}, {UB}), grid=(2,),
    ),
    Algorithm(
        GRID, "mandelbrot", (16, 4), lambda: (zeros(30, 45, kind=I32), n(45), n(30), np.float32(0.0625), n(60)),
        escaped, ({OOB},), grid=(3, 8),
    ),
    Algorithm(
        GRID, "sobel", (16, 8),
        lambda: (integers(256, 20 * 48).astype(np.uint8), zeros(20, 41, kind=np.int16), n(41), n(20), n(48)),
        equal(1, gradient), ({OOB}, {OOB}), grid=(3, 3),
    ),
    Algorithm(GRID, "sample_field", (64,), field, sampled, ({OOB}, {OOB}), grid=(4,)),
    Algorithm(
        WARPS, "gemm_swizzled", (128,), lambda: (f16(64, 96), f16(128, 96), zeros(64, 128), n(128), n(96)),
        close(2, lambda a: wide(a[0]) @ wide(a[1]).T, 1e-4), ({K.ASYNC_COPY}, {S_RACE, K.ASYNC_COPY}), grid=(2, 1),
    ),
    Algorithm(
        WARPS, "attention_mma", (32,),
        lambda: (f16(32, 16), f16(48, 16), f16(48, 16), zeros(32, 16), n(48), np.float32(0.25)),
        close(3, attention, 2e-3), ({S_RACE, UNINIT}, {OOB}), grid=(2,),
    ),
    Algorithm(
        WARPS, "producers_and_consumers", (128,), lambda: (f32(7, 64), zeros(7, 64), n(7)),
        equal(1, lambda a: a[0][:, ::-1]), ({S_RACE, K.DEADLOCK}, {S_RACE, UNINIT}, {K.DEADLOCK, S_RACE}),
    ),
    Algorithm(
        WARPS, "matvec_int4", (32,), lambda: (random_words(5, 40), f16(5, 10), f32(320), zeros(5), n(320)),
        close(3, int4, 1e-4, 1e-4), ({OOB}, {UB}), grid=(5,),
    ),
    Algorithm(
        WARPS, "gemm_dp4a", (16, 16),
        lambda: (random_words(32, 16).view(I32), random_words(48, 16).view(I32), zeros(32, 48, kind=I32), n(48), n(16)),
        equal(2, dp4a), ({S_RACE}, {UNINIT, UB, OOB}), grid=(3, 2),
    ),
    Algorithm(
        WARPS, "ring_of_flags", (128,), lambda: (f32(640), zeros(640), n(10)), equal(1, lambda a: 2 * a[0]),
        ({S_RACE}, {S_RACE}),
    ),
    Algorithm(
        GROUPS, "count_above", (64,), lambda: (f32(8, 50), f32(8), zeros(8, kind=I32), zeros(1, kind=I32), n(50)),
        above, ({G_RACE, OOB}, {G_RACE}), grid=(2,),
    ),
    Algorithm(
        WARPS, "sort_two_warps", (64,), lambda: (integers(1000, 192), zeros(192, kind=I32)),
        equal(1, lambda a: np.sort(a[0].reshape(3, 64), 1).ravel()), ({S_RACE, UNINIT}, {K.WRONG_MASK, K.DEADLOCK}),
        grid=(3,),
    ),
    Algorithm(
        WARPS, "sums_zero_filled", (32,), lambda: (f32(3, 304)[:, :302], zeros(3), n(302), n(304)),
        close(1, lambda a: wide(a[0]).sum(1)), ({OOB}, {S_RACE, K.ASYNC_COPY, UNINIT}), grid=(3,),
    ),
]  # fmt: skip
