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
MEAN_ROUNDINGS = 4  # of a mean in f32 that libraries work out; ours are rounded once, or kept with what they lack


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> dict[str, torch.Tensor]:
    deviation = x - x.mean(dim=1, keepdim=True)
    variance = (deviation * deviation).mean(dim=1, keepdim=True)
    return {"y": deviation / (variance + EPS).sqrt() * weight + bias}


def work(shape: Shape, dtype: DType) -> Work:
    """An addition for the mean, a subtraction, an FMA for the variance, a product and an FMA per element."""
    return Work({Pipeline.FP32: 7 * shape.size}, rowwise.compulsory(shape, dtype, 2))


def bound(computed: Computed) -> dict[str, Bound]:
    """With g = gamma_h of the kernel's sums, v the variance and r the root mean square of a row, p that of distances
    from its first element: a first mean is off by up to g r; corrected by what the deviations from it add up to it is
    off by g (sqrt(v) + g r), and one that was summed up relative to the first element by g p: E at most. A mean that is
    off by E adds 3 E sqrt(v) + 2 E^2 to the error g v of a variance, the condition number of Chan, Golub and LeVeque,
    and what a correction takes off the squares again has errors of its own. Last a mean may be rounded, by libraries
    more than once, unless all of the row is one number, which it is then. What follows is monotonous in the variance.
    """
    x, weight, y = computed.inputs["x"], computed.inputs["weight"], computed.outputs["y"]
    if not y.numel():
        return {"y": Bound(finite_magnitude(y))}
    u, g = F32.unit_roundoff, gamma(computed.depth + EXTRA, F32.unit_roundoff)
    x, factor = finite(x), finite_magnitude(weight)
    mean = x.mean(dim=1, keepdim=True)
    deviation = x - mean
    variance = (deviation * deviation).mean(dim=1, keepdim=True)
    squares = (x * x).mean(dim=1, keepdim=True)
    from_first = ((x - x[:, :1]) ** 2).mean(dim=1, keepdim=True).sqrt()
    uncorrected = g * squares.sqrt()
    summed = g * (variance.sqrt() + uncorrected + from_first) + F32.tiny
    rounded = (MEAN_ROUNDINGS * u * mean.abs()).masked_fill(from_first == 0, 0.0)
    mean_error = summed + rounded
    variance_error = g * (variance + uncorrected**2) + 2 * g * (variance.sqrt() + uncorrected) * uncorrected
    variance_error = variance_error + 3 * summed * variance.sqrt() + 2 * mean_error**2 + computed.depth * F32.tiny
    scale = (variance + EPS).rsqrt()
    # A reciprocal root of 9 u: rsqrt of 2 units in the last place, or sqrt and a division of as many (PTX ISA).
    largest = ((variance - variance_error).clamp(min=0) + EPS).rsqrt() * (1 + 9 * u)
    smallest = (variance + variance_error + EPS).rsqrt() * (1 - 9 * u)
    scale_error = (largest - scale).maximum(scale - smallest)
    magnitude = deviation.abs() + mean_error
    error = (mean_error + 3 * u * (magnitude + uncorrected)) * largest
    error = factor * (deviation.abs() * scale_error + error)
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
        "mean within gamma_h (sqrt(v) + gamma_h rms(x) + rms(x - x_0)) + 4 u |mean|, variance as its condition number "
        "wants: corrected two-pass and shifted algorithms of Chan, Golub and LeVeque, 'Algorithms for computing the "
        "sample variance' (1983)",
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
