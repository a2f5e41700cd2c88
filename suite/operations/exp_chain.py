"""y = exp(-exp(... -x)), k times: a kernel whose roof is that of the special-function units.

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

if TYPE_CHECKING:
    import torch

PRECISE, FAST = 4, 5  # roundings of a step at argument 0: two units in the last place; and one of the argument
SLOPE = 1.173  # units in the last place that __expf loses per unit of its argument


def reference(x: torch.Tensor, steps: int) -> dict[str, torch.Tensor]:
    y = x
    for _ in range(steps):
        y = (-y).exp()
    return {"y": y}


def work(shape: Shape, dtype: DType) -> Work:
    vector = shape.dims[0] * dtype.operand.itemsize
    return Work({Pipeline.SPECIAL: shape.size}, Traffic(read=vector, write=vector))


def bound(computed: Computed) -> dict[str, Bound]:
    """Running error: what a step makes of the error before it, and its own."""
    item, value = computed.dtype.operand, computed.inputs["x"]
    error = 0 * value.nan_to_num()
    steps = computed.dims[1]
    per_step = computed.depth // steps
    for _ in range(steps):
        relative = item.unit_roundoff * per_step
        if per_step == FAST:  # beyond 1e4 the exponential is 0 or infinite whatever the error
            relative = relative + 2 * item.unit_roundoff * SLOPE * (value.abs() + error).clamp(max=1e4)
        after = (-value).exp()
        # One step rises fastest towards smaller arguments; a result may be flushed to zero below the normal numbers.
        error = ((error - value).exp() * (1 + relative) - after).nan_to_num(0.0, 0.0, 0.0) + item.tiny
        value = after
    return {"y": Bound(error)}


def chains(tile: tuple[int, ...]) -> st.SearchStrategy[Shape]:
    return st.builds(lambda n, k, offset: Shape((n, k), offset), extents(tile[0]), st.integers(1, 2 * tile[1]), OFFSETS)


def kernel(backend: str, variant: str, roundings: int) -> Kernel:
    return Kernel(
        backend,
        variant,
        f"kernels_{backend}.exp_chain:{variant}",
        ("f32",),
        options={"block": 256} if backend == "triton" else {},
        tile=(256, 4),
        depth=lambda dims: roundings * dims[1],
        best=variant == "fast",
    )


OPERATION = Operation(
    name="exp_chain",
    summary="y = exp(-x) applied k times",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims[:1]),
        Argument("y", Role.OUT, lambda dims: dims[:1]),
    ),
    scalars=lambda dims: {"steps": dims[1]},
    reference=reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "running error analysis (Higham, 3.3); expf: 2 ulp, __expf: 2 + 1.173 |x| ulp (CUDA C++ programming guide, "
        "mathematical functions); Triton's tl.exp is the latter",
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
            "torch", "exp", "suite.peers.exp_chain:torch_exp", ("f32",), depth=lambda dims: PRECISE * dims[1], peer=True
        ),
    ),
    depth=lambda dims: PRECISE * dims[1],
)
