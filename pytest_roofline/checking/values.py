"""Input data by class: random for timing, and the values that break kernels for correctness."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_roofline.dtypes import Element

if TYPE_CHECKING:
    import torch

RANDOM = "random"
WHOLE = "whole"


def classes(element: Element) -> tuple[str, ...]:
    """The value classes that make sense for a number format; the first is the plainest, to which hypothesis shrinks."""
    if not element.is_float:
        return (RANDOM,)
    return (RANDOM, *(_SPECIAL if element.name != "fp8" else _OF_FP8))


def draw(extents: tuple[int, ...], element: Element, values: str, seed: int, device: str) -> torch.Tensor:
    """A dense tensor of ``extents`` holding values of one class, the same for the same seed and kind of device.

    Random floats are standard normal (so that sums cancel as real data do), random integers uniform over the format,
    so that what needs more bits than the format has shows. Raises ``ValueError`` for a class that the format does not
    have.
    """
    import torch

    if values not in classes(element):
        raise ValueError(f"no value class {values!r} for {element.name}; it has {', '.join(classes(element))}")
    generator = torch.Generator(device=device).manual_seed(seed)
    dtype = element.torch()
    if not element.is_float:
        range_ = torch.iinfo(dtype)
        end = min(range_.max + 1, (1 << 63) - 1)  # torch.randint leaves its end out, and takes it in 64 bits
        return torch.randint(range_.min, end, extents, generator=generator, device=device, dtype=dtype)
    wide = torch.float64 if element.name == "f64" else torch.float32
    data = torch.randn(extents, generator=generator, device=device, dtype=wide)
    if values != RANDOM and data.numel():
        _SPECIAL[values](data.view(-1), element, generator)
    data = data.to(dtype)
    if values != "nan" or element.itemsize == 1:  # of 8 bits all NaNs are one, but for the sign
        return data
    # On some CPUs torch makes a bfloat16 NaN of all ones, which the Triton checker takes for a masked lane.
    return data.masked_fill_(data.isnan(), float("nan"))


def _sprinkle(data: torch.Tensor, generator: torch.Generator, *specials: float) -> None:
    """Each special value at up to two random places: rare enough that the rest of the result stays checkable."""
    import torch

    for special in specials:
        places = torch.randint(data.numel(), (2,), generator=generator, device=data.device)
        data[places] = special


def _nan(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    _sprinkle(data, generator, float("nan"))


def _inf(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    _sprinkle(data, generator, float("inf"))


def _neg_inf(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    _sprinkle(data, generator, float("-inf"))


def _both_inf(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    _sprinkle(data, generator, float("inf"), float("-inf"))


def _zeros(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    data.copy_(data.sign() * 0.0)  # +0.0 and -0.0 in random order


def _negative_zeros(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    data.fill_(-0.0)


def _subnormal(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    data.mul_(element.tiny / 8)


def _largest(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    _sprinkle(data, generator, element.largest, -element.largest)


def _whole(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    """-2 to 2, on average of magnitude 3/4: products and their sums stay small enough to be exact in any order."""
    data.round_().clamp_(-2, 2)


def _cancellation(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    """Large values that come in pairs of opposite sign: what is left is small against what was added."""
    half = data.numel() // 2
    data[:half].mul_(element.largest**0.25)
    data[half : 2 * half] = -data[:half]


def _offset(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    """A mean that takes half of the digits of what lies around it."""
    data.add_(element.unit_roundoff**-0.5)


def _constant(data: torch.Tensor, element: Element, generator: torch.Generator) -> None:
    """One random number everywhere, whose sums round; that its mean is the number itself has to survive that."""
    data.copy_(data[:1] * element.unit_roundoff**-0.5)


_OF_FP8 = ("nan", "zeros", "negative_zeros", "subnormal", WHOLE)  # e4m3 has no infinities
_SPECIAL: dict[str, Callable[[torch.Tensor, Element, torch.Generator], None]] = {
    "nan": _nan,
    "inf": _inf,
    "neg_inf": _neg_inf,
    "both_inf": _both_inf,
    "zeros": _zeros,
    "negative_zeros": _negative_zeros,
    "subnormal": _subnormal,
    "largest": _largest,
    "cancellation": _cancellation,
    WHOLE: _whole,
    "offset": _offset,
    "constant": _constant,
}
