"""y = x / sqrt(mean of x^2 + eps) * weight over each row: one reduction, nothing that could cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Bound,
    Computed,
    Operation,
    Pipeline,
    Role,
    Shapes,
    Tolerance,
    Work,
)
from pytest_roofline.dtypes import DType, element
from pytest_roofline.ids import Shape
from pytest_roofline.shapes import matrices
from suite import rowwise
from suite.bounds import finite_magnitude, gamma, stored

if TYPE_CHECKING:
    import torch

EPS = 1e-6  # the value of the Llama models; torch's default depends on the format
F32 = element("f32")
# Units u of f32 beside half of those of the sum: squares, mean and eps 3, a reciprocal root of 9 (sqrt and a division
# of 2 units in the last place each, PTX ISA), two products.
EXTRA = 14


def reference(x: torch.Tensor, weight: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": x / ((x * x).mean(dim=1, keepdim=True) + EPS).sqrt() * weight}


def work(shape: Shape, dtype: DType) -> Work:
    """An FMA for the sum of squares and two products per element."""
    return Work({Pipeline.FP32: 4 * shape.size}, rowwise.compulsory(shape, dtype, 1))


def bound(computed: Computed) -> dict[str, Bound]:
    """All terms are positive, so the sum has a small relative error, the root half of it, and the result that."""
    x, y = computed.inputs["x"], computed.outputs["y"]
    if not y.numel():
        return {"y": Bound(finite_magnitude(y))}
    relative = gamma(computed.depth + EXTRA, F32.unit_roundoff)
    # A product may underflow: x / root before it is scaled by the weight, or the result.
    error = relative * finite_magnitude(y) + F32.tiny * (2 + finite_magnitude(computed.inputs["weight"]))
    # Beyond the largest number squares overflow, and everything becomes zero.
    squares = (finite_magnitude(x) ** 2).sum(dim=1, keepdim=True)
    lost = (squares * 2 >= F32.largest).expand(y.shape)
    return {"y": stored(finite_magnitude(y), error.masked_fill(lost, float("inf")), computed.dtype.operand, lost)}


OPERATION = Operation(
    name="rmsnorm",
    summary="y = x / sqrt(mean of x^2 + eps) * weight, by row",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims, pitched=True),
        Argument("weight", Role.IN, lambda dims: dims[1:]),
        Argument("y", Role.OUT, lambda dims: dims, pitched=True),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "relative gamma_(h+14): a sum of positive terms of depth h (Higham, 4.2), a reciprocal root and two products",
    ),
    shapes=Shapes(
        drawn=lambda tile: matrices(tile, lambda shape: shape.dims[1]),
        sweep=("8192x8192",),
        representative=("8192x8192",),
        counted=rowwise.COUNTED,
        full=rowwise.FULL,
    ),
    kernels=rowwise.ladder(
        "rmsnorm",
        "rms_norm",
        scratch=("squares",),
        options={"eps": EPS},
        looped={"block": 4096, "num_warps": 8},
        unfused_reads=2,
    ),
    depth=lambda dims: dims[1],
)
