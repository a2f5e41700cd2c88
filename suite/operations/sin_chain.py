"""y = sin(sin(... x)), k times: a kernel whose roof is neither memory nor the multiply-add pipeline.

The shape is ``n x k``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import Bound, Computed, Operation, Tolerance
from suite.bounds import finite_magnitude, gamma
from suite.chains import ARGUMENTS, SHAPES, kernels, work

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


def bound(computed: Computed) -> dict[str, Bound]:
    item, x, y = computed.dtype.operand, computed.inputs["x"], computed.outputs["y"]
    steps = computed.dims[1]
    if computed.depth == PRECISE * steps:  # relative errors: |v cos v / sin v| <= 1 for the |v| <= 1 of later steps
        return {"y": Bound(gamma(computed.depth, item.unit_roundoff) * finite_magnitude(y) + steps * item.tiny)}
    first = (x.abs() > 6.28) * WIDE_ERROR
    first[x.abs() > WIDE] = float("inf")
    return {"y": Bound(computed.depth * item.unit_roundoff + first)}


OPERATION = Operation(
    name="sin_chain",
    summary="y = sin applied k times to x",
    arguments=ARGUMENTS,
    scalars=lambda dims: {"steps": dims[1]},
    reference=reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "errors of the steps added up, because |cos| <= 1 amplifies none; sinf: 2 ulp (CUDA C++ programming guide, "
        "mathematical functions), sin.approx: 2^-20.5 up to 2 pi, 2^-14.7 up to 100 pi (PTX ISA)",
    ),
    shapes=SHAPES,
    kernels=kernels("sin_chain", "sin", PRECISE, FAST),
    depth=lambda dims: PRECISE * dims[1],
)
