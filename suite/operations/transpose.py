"""y[n, m] = x[m, n] transposed: nothing is computed, and one of the two sides runs against the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Floor,
    Kernel,
    Memory,
    Operation,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from pytest_roofline.shapes import matrices
from suite.bounds import exact

if TYPE_CHECKING:
    import torch

DTYPES = ("f32", "f16")
RUNG = ("f32",)  # where one format tells what the rung buys, the other is checked and counted
SECTOR = 32  # bytes of the smallest transfer between the level-1 caches and L2


def reference(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": x.t().contiguous()}


def work(shape: Shape, dtype: DType) -> Work:
    matrix = shape.size * dtype.operand.itemsize
    return Work({}, Traffic(read=matrix, write=matrix))


def scattered_stores(shape: Shape, dtype: DType) -> tuple[Traffic, ...]:
    """Every element is stored by itself, a row away from its neighbour in the warp: a sector each."""
    return (Traffic(shape.size * dtype.operand.itemsize, shape.size * SECTOR, Memory.L2),)


OPERATION = Operation(
    name="transpose",
    summary="y = x transposed",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims, pitched=True, transposable=True),
        Argument("y", Role.OUT, lambda dims: dims[::-1], pitched=True),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(exact, "values are moved, not computed"),
    shapes=Shapes(
        drawn=lambda tile: matrices(tile, lambda shape: max(shape.dims), transposable=True),
        # 4096 x 4096 has published A100 figures; 4097 x 8191 fits no tile and aligns no row.
        sweep=("8192x8192", "4096x4096", "4097x8191"),
        representative=("4096x4096",),
        counted=("64x64", "33x65", "64x64.p72", "31x100.o1.p104", "32x48.t", "1x100", "0x5"),
        full=("8192x8000.p8224", "100000x64", "64x100000", "8192x8192.t", "8192x8192.o1"),
    ),
    kernels=(
        Kernel("triton", "naive", "kernels_triton.transpose:naive", DTYPES, options={"block": 256}, tile=(4, 256)),
        Kernel(
            "triton",
            "tiled",
            "kernels_triton.transpose:tiled",
            DTYPES,
            tile=(64, 64),
            best=True,
        ),
        Kernel("cuda", "naive", "kernels_cuda.transpose:naive", DTYPES, tile=(8, 32), model=scattered_stores),
        Kernel("cuda", "shared", "kernels_cuda.transpose:shared", DTYPES, tile=(32, 32), timed_dtypes=RUNG),
        Kernel("cuda", "shared_padded", "kernels_cuda.transpose:shared_padded", DTYPES, tile=(32, 32)),
        # In place of the padding, columns of the tile are permuted.
        Kernel(
            "cuda",
            "shared_swizzled",
            "kernels_cuda.transpose:shared_swizzled",
            DTYPES,
            tile=(32, 32),
            timed_dtypes=RUNG,
            after="shared",
        ),
        # The sum of four changes, not measured one by one: accesses of 16 bytes; for large matrices tiles of 64 x 64
        # f32 and 256 threads, not 32 x 32; squares that a thread transposes in registers; blocks in the order of y,
        # which alone makes 131.0 of 135.6 us (vectorised.cu). For long ones L2's policy, too (evict_last).
        Kernel(
            "cuda",
            "vectorised",
            "kernels_cuda.transpose:vectorised",
            DTYPES,
            tile=(64, 64),
            floors=(Floor("h200", 0.70, "4.0 TB/s of 4.8 were measured with such a tile at 8192^2 f32", 8192 * 8000),),
            best=True,
        ),
        Kernel("torch", "copy", "suite.peers.transpose:torch_copy", ("f32",), peer=True),
    ),
    depth=lambda dims: 0,
    absent={
        ("triton", "shared"): "Triton lays out shared memory itself; tiled is the nearest form",
        ("triton", "shared_padded"): "Triton lays out shared memory itself; tiled is the nearest form",
        ("triton", "shared_swizzled"): "Triton lays out shared memory itself; tiled is the nearest form",
        ("triton", "vectorised"): "Triton chooses the width of accesses itself; tiled is the nearest form",
        ("cuda", "tiled"): "shared, shared_padded, shared_swizzled and vectorised are its rungs in CUDA C++",
    },
)
