"""y[i, j] = f(x[i, j]) where c[i] > 0, else g(x[i, j]): what it costs when threads of one warp want different things.

The shape is ``groups x group``: with groups of 1 neighbouring lanes choose at random, with groups of 32 whole warps do,
with groups of 256 whole blocks. f and g are chains of 64 dependent multiply-adds, so that arithmetic is the limit.
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
from pytest_roofline.shapes import OFFSETS
from suite.bounds import gamma

if TYPE_CHECKING:
    import torch

DTYPES = ("f32",)
STEPS = 64
CHOSEN, OTHERWISE = (0.75, 0.5), (-0.5, 0.25)


def chain(value: torch.Tensor, factor: float, summand: float) -> torch.Tensor:
    for _ in range(STEPS):
        value = value * factor + summand
    return value


def reference(c: torch.Tensor, x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": chain(x, *CHOSEN).where(c[:, None] > 0, chain(x, *OTHERWISE))}


def work(shape: Shape, dtype: DType) -> Work:
    """One of the two sides per element."""
    groups, group = shape.dims
    item = dtype.operand.itemsize
    traffic = Traffic(read=(groups + shape.size) * item if group else groups * item, write=shape.size * item)
    return Work({Pipeline.FP32: 2 * STEPS * shape.size}, traffic)


def bound(computed: Computed) -> dict[str, Bound]:
    """Every step adds two roundings to what it makes of the errors before it: the same chain on magnitudes."""
    item, x = computed.dtype.operand, computed.inputs["x"].abs()
    one, other = (chain(x, abs(factor), abs(summand)) for factor, summand in (CHOSEN, OTHERWISE))
    magnitude = one.where(computed.inputs["c"][:, None] > 0, other).nan_to_num(0.0, 0.0, 0.0)
    relative = gamma(computed.depth, item.unit_roundoff)
    return {"y": Bound(relative * magnitude + STEPS * item.unit_roundoff * item.tiny)}


def groups(tile: tuple[int, ...]) -> st.SearchStrategy[Shape]:
    group = st.sampled_from((1, 2, 31, 32, 33, 64, 256))
    number = st.integers(0, 600)
    return st.builds(lambda n, g, offset: Shape((-(-n // g), g), offset), number, group, OFFSETS)


OPERATION = Operation(
    name="divergent_select",
    summary="y = f(x) where c > 0, else g(x)",
    arguments=(
        Argument("c", Role.IN, lambda dims: dims[:1]),
        Argument("x", Role.IN, lambda dims: dims),
        Argument("y", Role.OUT, lambda dims: dims),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(bound, "running error bound of a Horner-like chain, two roundings a step (Higham, 5.1)"),
    shapes=Shapes(
        drawn=groups,
        sweep=("16777216x1",),
        representative=("16777216x1",),
        counted=("512x1", "16x32", "2x256", "100x5.o1", "7x1", "0x32"),
        full=("524288x32", "65536x256"),
    ),
    kernels=(
        Kernel(
            "triton",
            "per_warp",
            "kernels_triton.divergent_select:per_warp",
            DTYPES,
            options={"block": 128},
            tile=(1, 128),
        ),
        Kernel(
            "triton",
            "branch_free",
            "kernels_triton.divergent_select:branch_free",
            DTYPES,
            options={"block": 512},
            tile=(1, 512),
            best=True,
        ),
        Kernel("cuda", "per_lane", "kernels_cuda.divergent_select:per_lane", DTYPES, tile=(1, 256)),
        Kernel("cuda", "per_warp", "kernels_cuda.divergent_select:per_warp", DTYPES, tile=(1, 256), best=True),
        Kernel("cuda", "branch_free", "kernels_cuda.divergent_select:branch_free", DTYPES, tile=(1, 256)),
        Kernel("torch", "where", "suite.peers.divergent_select:torch_where", DTYPES, peer=True),
    ),
    depth=lambda dims: 2 * STEPS,
    absent={
        ("triton", "per_lane"): "Triton branches on scalars only, a program at a time; per_warp is the nearest form"
    },
)
