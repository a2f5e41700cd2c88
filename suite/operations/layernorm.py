"""y = (x - mean) / sqrt(variance + eps) * weight + bias over each row: two reductions, of which the second needs the
first, and a large mean must not cancel."""

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

EPS = 1e-5  # torch's default
F32 = element("f32")
EXTRA = 8  # roundings of a mean beside those of its sum: per update of a running mean, and the division


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> dict[str, torch.Tensor]:
    deviation = x - x.mean(dim=1, keepdim=True)
    variance = (deviation * deviation).mean(dim=1, keepdim=True)
    return {"y": deviation / (variance + EPS).sqrt() * weight + bias}


def work(shape: Shape, dtype: DType) -> Work:
    """An addition for the mean, a subtraction, an FMA for the variance, a product and an FMA per element."""
    return Work({Pipeline.FP32: 7 * shape.size}, rowwise.compulsory(shape, dtype, 2))


def bound(computed: Computed) -> dict[str, Bound]:
    """With g = gamma_h of the kernel's sums and r the root mean square of the row, the mean is off by E <= g r, and the
    variance v by g v + 3 E sqrt(v) + 2 E^2: the condition number r / sqrt(v) of Chan, Golub and LeVeque. Their
    two-pass algorithm has no middle term, updated moments have it. What follows is monotonous in the variance."""
    x, weight, y = computed.inputs["x"], computed.inputs["weight"], computed.outputs["y"]
    if not y.numel():
        return {"y": Bound(finite_magnitude(y))}
    u, g = F32.unit_roundoff, gamma(computed.depth + EXTRA, F32.unit_roundoff)
    x, factor = finite(x), finite_magnitude(weight)
    deviation = x - x.mean(dim=1, keepdim=True)
    variance = (deviation * deviation).mean(dim=1, keepdim=True)
    squares = (x * x).mean(dim=1, keepdim=True)
    mean_error = g * squares.sqrt() + F32.tiny
    variance_error = g * variance + 3 * mean_error * variance.sqrt() + 2 * mean_error**2 + computed.depth * F32.tiny
    scale = (variance + EPS).rsqrt()
    # A reciprocal root of 9 u: rsqrt of 2 units in the last place, or sqrt and a division of as many (PTX ISA).
    largest = ((variance - variance_error).clamp(min=0) + EPS).rsqrt() * (1 + 9 * u)
    smallest = (variance + variance_error + EPS).rsqrt() * (1 - 9 * u)
    scale_error = (largest - scale).maximum(scale - smallest)
    magnitude = deviation.abs() + mean_error
    error = factor * (deviation.abs() * scale_error + (mean_error + 3 * u * magnitude) * largest)
    error = error + u * finite_magnitude(y) + 4 * F32.tiny * (1 + factor)
    # Where the squares overflow the scale becomes zero, and nothing is known; a product may overflow by itself.
    lost = squares * x.shape[1] * 4 >= F32.largest
    product = factor * magnitude * largest + finite_magnitude(computed.inputs["bias"])
    overflow = lost | (product >= F32.largest) | computed.inputs["weight"].isinf()
    error = error.masked_fill(lost, float("inf"))
    return {"y": stored(finite_magnitude(y), error, computed.dtype.operand, overflow)}


def finite(values: torch.Tensor) -> torch.Tensor:
    """``values``, 0 where not finite."""
    return values.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)


OPERATION = Operation(
    name="layernorm",
    summary="y = (x - mean) / sqrt(variance + eps) * weight + bias, by row",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims, pitched=True),
        Argument("weight", Role.IN, lambda dims: dims[1:]),
        Argument("bias", Role.IN, lambda dims: dims[1:]),
        Argument("y", Role.OUT, lambda dims: dims, pitched=True),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "mean within gamma_h rms(x), variance within gamma_h (v + 3 rms(x) sqrt(v)) + 2 (gamma_h rms(x))^2, with the "
        "condition number of Chan, Golub and LeVeque, 'Algorithms for computing the sample variance' (1983)",
    ),
    shapes=Shapes(
        drawn=lambda tile: matrices(tile, lambda shape: shape.dims[1]),
        sweep=("8192x8192",),
        representative=("8192x8192",),
        counted=rowwise.COUNTED,
        # The last six are those of published A100 figures.
        full=(*rowwise.FULL, *(f"4096x{1 << n}" for n in range(10, 15)), "16x4194304"),
    ),
    kernels=rowwise.ladder(
        "layernorm",
        "layer_norm",
        scratch=("means", "variances"),
        options={"eps": EPS},
        looped={"block": 2048, "num_warps": 8},
        unfused_reads=3,
    ),
    depth=lambda dims: dims[1],
)
