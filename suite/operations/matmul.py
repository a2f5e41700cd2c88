"""c[m, n] = a[m, k] b[k, n] in f32 on the ordinary cores: how often an operand is used again decides everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Bound,
    Computed,
    Kernel,
    Memory,
    Operation,
    Pipeline,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from pytest_roofline.shapes import matrices
from suite.bounds import finite_magnitude, summation

if TYPE_CHECKING:
    import torch


def reference(a: torch.Tensor, b: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"c": a @ b}


def work(shape: Shape, dtype: DType) -> Work:
    m, n, k = shape.dims
    size = dtype.operand.itemsize
    return Work({Pipeline.FP32: 2 * m * n * k}, Traffic(read=size * (m * k + k * n), write=size * m * n))


def bound(computed: Computed) -> dict[str, Bound]:
    magnitude = finite_magnitude(computed.inputs["a"]) @ finite_magnitude(computed.inputs["b"])
    return {"c": summation(magnitude, computed.dims[2], computed.depth, computed.dtype.accumulator)}


def naive_loads(shape: Shape, dtype: DType) -> tuple[Traffic, ...]:
    """Two operands per product: 2 FLOP per 8 bytes, 0.25 FLOP/byte, out of the level-1 cache, which is the same memory
    as shared memory."""
    m, n, k = shape.dims
    return (Traffic(2 * dtype.operand.itemsize * m * n * k, dtype.operand.itemsize * m * n, Memory.SHARED),)


def tile_loads(tile: int) -> Callable[[Shape, DType], tuple[Traffic, ...]]:
    """A block of tile x tile results reads a row and a column panel from L2: tile / 4 FLOP/byte, 8 for a tile of 32."""

    def model(shape: Shape, dtype: DType) -> tuple[Traffic, ...]:
        m, n, k = shape.dims
        panels = -(-n // tile) * m * k + -(-m // tile) * k * n
        return (Traffic(dtype.operand.itemsize * panels, dtype.operand.itemsize * m * n, Memory.L2),)

    return model


OPERATION = Operation(
    name="matmul",
    summary="c = a b",
    arguments=(
        Argument("a", Role.IN, lambda dims: (dims[0], dims[2]), pitched=True),
        Argument("b", Role.IN, lambda dims: (dims[2], dims[1]), pitched=True, transposable=True),
        Argument("c", Role.OUT, lambda dims: (dims[0], dims[1]), pitched=True),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "gamma_(k+1) |a| |b| elementwise for any order of the k products, fused or not (Higham, 3.5), plus underflow",
    ),
    shapes=Shapes(
        drawn=lambda tile: matrices(tile, lambda shape: max(shape.dims[1:]), transposable=True),
        sweep=("256x256x256", "1000x1000x1000", "2048x2048x2048", "4096x4096x4096", "4096x4096x7"),
        representative=("2048x2048x2048", "4096x4096x4096"),
        counted=("64x64x64", "33x65x7", "32x32x33.o1", "31x40x50.p56", "48x32x64.t", "1x70x32", "5x5x0"),
        # The cubes and the rectangles are those of published A100 figures.
        full=(
            "512x512x512",
            "1024x1024x1024",
            "8192x8192x8192",
            "1024x2048x4096",
            "1024x4096x4096",
            "8205x5921x2949",
            "2048x2048x2048.t",
            "2048x2048x2048.p2056",
        ),
    ),
    kernels=(
        Kernel(
            "triton",
            "naive",
            "kernels_triton.matmul:naive",
            ("f32",),
            options={"block": 16, "num_warps": 8},
            tile=(16, 16, 4),
        ),
        Kernel(
            "triton",
            "tiled_32",
            "kernels_triton.matmul:tiled",
            ("f32",),
            options={"block": 32, "block_k": 32, "num_warps": 4, "num_stages": 2},
            tile=(32, 32, 32),
            model=tile_loads(32),
        ),
        Kernel(
            "triton",
            "tiled_128",
            "kernels_triton.matmul:tiled",
            ("f32",),
            options={"block": 128, "block_k": 16, "num_warps": 8, "num_stages": 3},
            tile=(128, 128, 16),
            model=tile_loads(128),
            best=True,
        ),
        Kernel("cuda", "naive", "kernels_cuda.matmul:naive", ("f32",), tile=(8, 32, 1), model=naive_loads),
        Kernel(
            "cuda",
            "shared_32",
            "kernels_cuda.matmul:shared_32",
            ("f32",),
            tile=(32, 32, 32),
            model=tile_loads(32),
            best=True,
        ),
        Kernel("torch", "mm", "suite.peers.matmul:torch_mm", ("f32",), peer=True),
    ),
    # One rounding for the product and one for each of up to k additions.
    depth=lambda dims: dims[2] + 1,
    absent={
        ("triton", "shared_32"): "Triton decides what goes through shared memory; tiled_32 is the same tile",
        ("cuda", "tiled_32"): "called shared_32, because there the source says what is shared",
        ("cuda", "tiled_128"): "a tile of 128 needs results kept in registers, a rung of its own in CUDA C++",
    },
)
