"""Compare a computed output with the exact one under an elementwise error bound: ``error <= bound``, so NaN fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_roofline.contract import Bound
from pytest_roofline.dtypes import Element

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Comparison:
    """``worst`` is the largest error as a fraction of its bound; ``problem`` says what is wrong (``None``: nothing)."""

    worst: float
    problem: str | None = None


def compare(
    name: str, got: torch.Tensor, exact: torch.Tensor, bound: Bound, item: Element, unwritten: torch.Tensor
) -> Comparison:
    """Compare output ``name`` of format ``item`` with ``exact`` (float64 or int64, same shape).

    A NaN must be NaN, an infinity the same infinity; a finite result must lie within the bound. Where the exact result
    rounds to infinity, or the bound says that some order of evaluation overflows, a non-finite result is admitted.
    Integers wrap around as torch's do: exact ones are taken modulo the range of ``item``.
    """
    import torch

    if tuple(got.shape) != tuple(exact.shape):
        raise ValueError(
            f"the reference returns {name} with shape {tuple(exact.shape)}, the argument has {tuple(got.shape)}"
        )
    if got.numel() == 0:
        return Comparison(0.0)
    if exact.dtype is torch.int64 and not item.is_float:
        exact = exact.to(got.dtype).to(torch.int64)
    wide = got.to(exact.dtype)
    absolute = bound.absolute.to(device=exact.device, dtype=torch.float64).expand(exact.shape)
    error = (wide - exact).abs().to(torch.float64)
    good = (error <= absolute) & torch.isfinite(exact)  # an infinite bound does not make a finite result infinite
    if item.is_float:
        good |= _special(wide, exact, absolute, bound, item)
    if bound.signed_zero:
        good &= ~((exact == 0) & (wide == 0) & (torch.signbit(wide) != torch.signbit(exact)))
    measurable = torch.isfinite(error) & (error > 0)
    ratios = torch.where(measurable, error / absolute, torch.zeros_like(error))
    worst = float(ratios.max())
    if bool(good.all()):
        return Comparison(worst)
    return Comparison(worst, _describe(name, got, exact, absolute, ~good, unwritten))


def _special(
    wide: torch.Tensor, exact: torch.Tensor, absolute: torch.Tensor, bound: Bound, item: Element
) -> torch.Tensor:
    """Where a non-finite result is right."""
    import torch

    good = (torch.isnan(exact) & torch.isnan(wide)) | (torch.isinf(exact) & (wide == exact))
    # Round-to-nearest sends everything from largest * (1 + u) on to infinity.
    rounds_away = exact.abs() + absolute >= item.largest * (1 + item.unit_roundoff)
    good |= rounds_away & torch.isinf(wide) & (torch.signbit(wide) == torch.signbit(exact))
    if bound.may_overflow is not None:
        good |= bound.may_overflow.to(exact.device) & ~torch.isfinite(wide)
    return good


def _describe(
    name: str,
    got: torch.Tensor,
    exact: torch.Tensor,
    absolute: torch.Tensor,
    bad: torch.Tensor,
    unwritten: torch.Tensor,
) -> str:
    count, total = int(bad.sum()), bad.numel()
    never = int((bad & unwritten).sum())
    index = tuple(int(i) for i in bad.nonzero()[0])
    value, want, limit = got[index].item(), exact[index].item(), absolute[index].item()
    text = f"{name}: {count} of {total} elements wrong, the first at {list(index)}: "
    text += f"got {value!r}, exact {want!r}, error bound {limit:.3g}"
    if never:
        text += f"; {never} of them were never written"
    return text
