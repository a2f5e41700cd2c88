"""ldmatrix, mma.sync and wmma: the CPU's models compute the product in every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pytest_roofline.counting.cuda_cpu import checking, load  # noqa: E402

MODULE = load(Path(__file__).parent / "tensor_core.cu")
ALGORITHMS = load(Path(__file__).parent / "algorithms_pipeline.cu")
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


def operands(m: int, n: int, k: int, kind: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Random a[m, k] and b[n, k] in one format; tf32 is stored as float. In torch's memory: NumPy's need not be aligned
    as wmma asks."""
    if kind == "signed char":
        a, b = (torch.tensor(RNG.integers(-128, 128, shape, np.int8)) for shape in ((m, k), (n, k)))
        return a, b
    a, b = (torch.tensor(RNG.random(shape, dtype=np.float32) - 0.5) for shape in ((m, k), (n, k)))
    kinds = {"__half": torch.float16, "__nv_bfloat16": torch.bfloat16}
    return (a.to(kinds[kind]), b.to(kinds[kind])) if kind in kinds else (a, b)


def tf32(x: torch.Tensor) -> torch.Tensor:
    """Rounded to ten bits of fraction, to nearest with ties away from zero, as cvt.rna.tf32 does."""
    bits = (x.view(torch.int32) + 0x1000) & ~0x1FFF
    return bits.view(torch.float32)


@pytest.mark.parametrize(
    ("kind", "accumulator", "depth", "pipeline"),
    [
        ("__half", "float", 16, "fp16_tensor"),
        ("__nv_bfloat16", "float", 16, "bf16_tensor"),
        ("float", "float", 8, "tf32_tensor"),
        ("signed char", "int", 16, "int8_tensor"),
    ],
)
def test_wmma_formats(kind: str, accumulator: str, depth: int, pipeline: str) -> None:
    """Products of 32 x 48 x 64 through wmma agree with float64; the operations are those of the format's pipeline."""
    m, n, k = 32, 48, 64
    a, b = operands(m, n, k, kind)
    c = torch.zeros(m, n, dtype=torch.int32 if accumulator == "int" else torch.float32)
    with checking() as session:
        kernel = ALGORITHMS.function(f"wmma_tiles<{kind}, {accumulator}, {depth}>")
        kernel((n // 16, m // 16), (32,), (a, b, c, np.int32(n), np.int32(k)))
    exact = (tf32(a).double() @ tf32(b).double().T) if kind == "float" else a.double() @ b.double().T
    if accumulator == "int":
        assert torch.equal(c.double(), exact)
    else:  # k additions of products that are exact, each rounded to float once
        bound = k * 2.0**-24 * (a.double().abs() @ b.double().abs().T)
        assert ((c.double() - exact).abs() <= bound).all()
    assert session.launches[0].flops == {pipeline: 2 * m * n * k}


@pytest.mark.parametrize(
    ("number", "kind", "depth", "pipeline"),
    [
        (0, "__half", 16, "fp16_tensor"),
        (1, "__nv_bfloat16", 16, "bf16_tensor"),
        (2, "float", 8, "tf32_tensor"),
        (3, "signed char", 32, "int8_tensor"),
    ],
)
def test_mma_sync_formats(number: int, kind: str, depth: int, pipeline: str) -> None:
    """One mma.sync of each format agrees with float64 within the rounding of its sum."""
    a, b = operands(16, 8, depth, kind)
    integer = kind == "signed char"
    c = torch.zeros(16, 8, dtype=torch.int32 if integer else torch.float32)
    registers = [x.view(torch.int32).numpy().view(np.uint32) for x in (a, b)]
    with checking() as session:
        ALGORITHMS.function(f"mma_once<{number}, {'int' if integer else 'float'}>")((1,), (32,), (*registers, c))
    if kind == "float":  # the instruction ignores the last 13 bits
        a, b = ((x.view(torch.int32) & ~0x1FFF).view(torch.float32) for x in (a, b))
    exact = a.double() @ b.double().T
    bound = 0 if integer else depth * 2.0**-24 * (a.double().abs() @ b.double().abs().T)
    assert ((c.double() - exact).abs() <= bound).all()
    assert session.launches[0].flops == {pipeline: 2 * 16 * 8 * depth}
