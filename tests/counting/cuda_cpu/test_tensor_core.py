"""ldmatrix and mma.sync: the CPU's model computes the product, and the same source compiles for a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pytest_roofline.counting.cuda_cpu import checking, load

MODULE = load(Path(__file__).parent / "tensor_core.cu")
RNG = np.random.default_rng(5)


def test_f16_through_ldmatrix() -> None:
    """A 16x8x16 product; four wavefronts for four matrices, two for two, as unconflicted rows of 16 bytes need."""
    a, b = (RNG.integers(-4, 5, shape).astype(np.float16) for shape in ((16, 16), (16, 8)))
    c = np.zeros((16, 8), np.float32)
    with checking() as session:
        MODULE.function("multiply_f16")((1,), (32,), (a, b, c))
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    record = session.launches[0]
    matrices = [line for line in record.lines if line.kind == "shared load" and line.size == 16]
    assert [(line.requests, line.wavefronts) for line in matrices] == [(1, 4), (1, 2)]
    assert record.flops == {"fp16_tensor": 2 * 16 * 8 * 16}


def test_signed_bytes() -> None:
    """A 16x8x32 product of bytes is exact."""
    a, b = (RNG.integers(-128, 128, shape, np.int8) for shape in ((16, 32), (8, 32)))
    c = np.zeros((16, 8), np.int32)
    MODULE.function("multiply_s8")((1,), (32,), (a.view(np.uint32), b.view(np.uint32), c))
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32).T)
