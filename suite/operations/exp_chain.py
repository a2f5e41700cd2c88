"""y = exp(-exp(... -x)), k times: a kernel whose roof is that of the special-function units.

The shape is ``n x k``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import Bound, Computed, Operation, Tolerance
from suite.chains import ARGUMENTS, SHAPES, kernels, work

if TYPE_CHECKING:
    import torch

PRECISE, FAST = 4, 5  # roundings of a step at argument 0: two units in the last place; and one of the argument
SLOPE = 1.173  # units in the last place that __expf loses per unit of its argument


def reference(x: torch.Tensor, steps: int) -> dict[str, torch.Tensor]:
    y = x
    for _ in range(steps):
        y = (-y).exp()
    return {"y": y}


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


OPERATION = Operation(
    name="exp_chain",
    summary="y = exp(-x) applied k times",
    arguments=ARGUMENTS,
    scalars=lambda dims: {"steps": dims[1]},
    reference=reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "running error analysis (Higham, 3.3); expf: 2 ulp, __expf: 2 + 1.173 |x| ulp (CUDA C++ programming guide, "
        "mathematical functions); Triton's tl.exp is the latter",
    ),
    shapes=SHAPES,
    kernels=kernels("exp_chain", "exp", PRECISE, FAST),
    depth=lambda dims: PRECISE * dims[1],
)
