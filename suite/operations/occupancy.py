"""y = 2 x with ``warps`` warps on each SM: how many bytes must be in flight to fill the memory's pipeline.

Little's law: bytes in flight = bandwidth x latency. Of 64 warps that an SM holds, 4 to 64 are let in (an occupancy of
1/16 to 1), each thread with one to eight loads of 4 bytes under way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Kernel,
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
from suite.bounds import exact
from suite.onchip import small

if TYPE_CHECKING:
    import torch

WARPS = (4, 8, 16, 32, 64)
BLOCK = 128
ELEMENTS = 1 << 26


def reference(x: torch.Tensor, warps: int) -> dict[str, torch.Tensor]:
    return {"y": 2 * x}


def work(shape: Shape, dtype: DType) -> Work:
    n = shape.dims[0]
    vector = n * dtype.operand.itemsize
    return Work({Pipeline.FP32: n}, Traffic(vector, vector))


def no_such_occupancy(shape: Shape, dtype: DType) -> str | None:
    return None if shape.dims[1] in WARPS else f"blocks of {BLOCK // 32} warps give one of {WARPS} warps on an SM"


def _kernels(backend: str) -> tuple[Kernel, ...]:
    return tuple(
        Kernel(
            backend,
            f"ilp_{ilp}",
            f"kernels_{backend}.occupancy:occupancy",
            ("f32",),
            options={"ilp": ilp},
            tile=(BLOCK * ilp,),
            rejects=no_such_occupancy,
            best=ilp == 8,
        )
        for ilp in (1, 2, 4, 8)
    )


OPERATION = Operation(
    name="occupancy",
    summary="y = 2 x with a given number of warps on each SM",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims[:1]),
        Argument("y", Role.OUT, lambda dims: dims[:1]),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(exact, "a product with 2 is exact, or overflows"),
    shapes=Shapes(
        drawn=lambda tile: small((tile[0], 2 * tile[0] + 9), (4, 8)),
        sweep=tuple(f"{ELEMENTS}x{warps}" for warps in WARPS),
        representative=(f"{ELEMENTS}x16",),
        counted=("1024x4", "1000x64", "7x16", "0x8"),
        full=tuple(f"{ELEMENTS}x{warps}" for warps in WARPS),
    ),
    kernels=(*_kernels("triton"), *_kernels("cuda")),
    scalars=lambda dims: {"warps": dims[1]},
)
