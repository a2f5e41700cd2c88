"""y = sin(sin(... x)), k times: a kernel whose roof is neither memory nor the multiply-add pipeline.

The shape is ``n x k``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from pytest_roofline.contract import (
    Argument,
    Bound,
    Computed,
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
from pytest_roofline.shapes import OFFSETS, extents
from suite.bounds import finite_magnitude, gamma

if TYPE_CHECKING:
    import torch

# Roundings that one step may cost: sinf errs by two units in the last place, each at most two roundings; sin.approx by
# 2^-20.5 < 12 * 2^-24 absolutely for arguments up to 2 pi, which only the first step's can exceed.
PRECISE, FAST = 4, 12
WIDE, WIDE_ERROR = 314.1, 2.0**-14.7  # up to 100 pi; nothing is promised beyond


def reference(x: torch.Tensor, steps: int) -> dict[str, torch.Tensor]:
    y = x
    for _ in range(steps):
        y = y.sin()
    return {"y": y}


def work(shape: Shape, dtype: DType) -> Work:
    vector = shape.dims[0] * dtype.operand.itemsize
    return Work({Pipeline.SPECIAL: shape.size}, Traffic(read=vector, write=vector))


def bound(computed: Computed) -> dict[str, Bound]:
    item, x, y = computed.dtype.operand, computed.inputs["x"], computed.outputs["y"]
    steps = computed.dims[1]
    if computed.depth == PRECISE * steps:  # relative errors: |v cos v / sin v| <= 1 for the |v| <= 1 of later steps
        return {"y": Bound(gamma(computed.depth, item.unit_roundoff) * finite_magnitude(y) + steps * item.tiny)}
    first = (x.abs() > 6.28) * WIDE_ERROR
    first[x.abs() > WIDE] = float("inf")
    return {"y": Bound(computed.depth * item.unit_roundoff + first)}


def chains(tile: tuple[int, ...]) -> st.SearchStrategy[Shape]:
    return st.builds(lambda n, k, offset: Shape((n, k), offset), extents(tile[0]), st.integers(1, 2 * tile[1]), OFFSETS)


def kernel(backend: str, variant: str, roundings: int) -> Kernel:
    return Kernel(
        backend,
        variant,
        f"kernels_{backend}.sin_chain:{variant}",
        ("f32",),
        options={"block": 256} if backend == "triton" else {},
        tile=(256, 4),
        depth=lambda dims: roundings * dims[1],
        best=variant == "fast",
    )


OPERATION = Operation(
    name="sin_chain",
    summary="y = sin applied k times to x",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims[:1]),
        Argument("y", Role.OUT, lambda dims: dims[:1]),
    ),
    scalars=lambda dims: {"steps": dims[1]},
    reference=reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "errors of the steps added up, because |cos| <= 1 amplifies none; sinf: 2 ulp (CUDA C++ programming guide, "
        "mathematical functions), sin.approx: 2^-20.5 up to 2 pi, 2^-14.7 up to 100 pi (PTX ISA)",
    ),
    shapes=Shapes(
        drawn=chains,
        sweep=("16777216x16",),
        representative=("16777216x16",),
        counted=("512x16", "500x4", "512x1.o1", "509x3.o3", "7x2", "0x16"),
        full=("16777216x1", "16777216x4", "16777216x64", "16777259x16.o1"),
    ),
    kernels=(
        kernel("triton", "precise", PRECISE),
        kernel("triton", "fast", FAST),
        kernel("cuda", "precise", PRECISE),
        kernel("cuda", "fast", FAST),
        Kernel(
            "torch", "sin", "suite.peers.sin_chain:torch_sin", ("f32",), depth=lambda dims: PRECISE * dims[1], peer=True
        ),
    ),
    depth=lambda dims: PRECISE * dims[1],
)
