"""Forward error bounds that the operations share (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import Bound, Computed
from pytest_roofline.dtypes import Element, element

if TYPE_CHECKING:
    import torch


def gamma(depth: int, unit_roundoff: float) -> float:
    """Largest relative error after ``depth`` roundings: gamma_h = h u / (1 - h u), Lemma 3.1.

    Raises ``ValueError`` where h u >= 1, because then nothing is bounded.
    """
    if depth * unit_roundoff >= 1:
        raise ValueError(f"{depth} roundings of relative size {unit_roundoff:.1e} have no error bound")
    return depth * unit_roundoff / (1 - depth * unit_roundoff)


def finite_magnitude(values: torch.Tensor) -> torch.Tensor:
    """|values|, 0 where not finite: an infinity or NaN is compared as such and needs no room for error."""
    return values.abs().nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)


def exact(computed: Computed) -> dict[str, Bound]:
    """No error at all in any output, not even in the sign of a zero: what is only moved, or is an integer."""
    return {
        name: Bound(0 * finite_magnitude(value), signed_zero=value.is_floating_point())
        for name, value in computed.outputs.items()
    }


def summation(magnitude: torch.Tensor, terms: int, depth: int, item: Element) -> Bound:
    """Bound of a sum of ``terms`` terms whose absolute values add up to ``magnitude``, in any order of that depth.

    gamma_depth times the magnitude (section 4.2), as much again for the float64 reference at its own precision, and the
    smallest normal number per term and per addition, because a product may underflow and ``red.add.f32`` on global
    memory flushes subnormal operands and results to zero (PTX ISA, red). Partial sums may overflow where the magnitude
    does.
    """
    relative = gamma(depth, item.unit_roundoff) + gamma(terms, element("f64").unit_roundoff)
    may_overflow = magnitude * (1 + relative) >= item.largest
    return Bound(magnitude * relative + (terms + depth) * item.tiny, may_overflow)


def stored(
    magnitude: torch.Tensor, error: torch.Tensor, item: Element, may_overflow: torch.Tensor | None = None
) -> Bound:
    """Bound of a result of that ``magnitude``, off by ``error`` before it is rounded to ``item`` and stored.

    Rounding adds u times what is rounded, or half the distance of subnormal numbers (Higham, 2.2): conversions flush
    nothing.
    """
    u = item.unit_roundoff
    return Bound(error * (1 + u) + u * (magnitude + item.tiny), may_overflow)
