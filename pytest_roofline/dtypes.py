"""Element types: their names in case ids, their size and the constants of their arithmetic. Pure: no torch here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Element:
    """One machine number format.

    ``precision`` is the number of significand bits including the implicit one (0 for integers), from which the unit
    roundoff of round-to-nearest follows as 2^-precision (Higham, Accuracy and Stability of Numerical Algorithms, 2.1).
    ``tiny`` is the smallest positive normal number, ``largest`` the largest finite one.
    """

    name: str
    torch_name: str
    itemsize: int
    precision: int = 0
    tiny: float = 0.0
    largest: float = 0.0

    @property
    def is_float(self) -> bool:
        """Whether the format is floating point."""
        return self.precision > 0

    @property
    def unit_roundoff(self) -> float:
        """Largest relative error of one correctly rounded operation; 0 for integers, which are exact."""
        return 2.0**-self.precision if self.is_float else 0.0

    def torch(self) -> torch.dtype:
        """The torch dtype of this format (imports torch)."""
        import torch

        dtype = getattr(torch, self.torch_name)
        assert isinstance(dtype, torch.dtype)
        return dtype


_ELEMENTS = {
    e.name: e
    for e in (
        Element("f64", "float64", 8, 53, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023),
        Element("f32", "float32", 4, 24, 2.0**-126, (2 - 2.0**-23) * 2.0**127),
        # tf32 is f32 storage whose operands are rounded to 11 significand bits by the tensor core.
        Element("tf32", "float32", 4, 11, 2.0**-126, (2 - 2.0**-10) * 2.0**127),
        Element("f16", "float16", 2, 11, 2.0**-14, 65504.0),
        Element("bf16", "bfloat16", 2, 8, 2.0**-126, (2 - 2.0**-7) * 2.0**127),
        # e4m3 without infinities, the variant of tensor-core GEMMs.
        Element("fp8", "float8_e4m3fn", 1, 4, 2.0**-6, 448.0),
        Element("i8", "int8", 1, largest=127),
        Element("i32", "int32", 4, largest=2**31 - 1),
        Element("i64", "int64", 8, largest=2**63 - 1),
    )
}


@dataclass(frozen=True)
class DType:
    """The ``dtype`` part of a case id: an operand format and the format that accumulates.

    Written ``f32`` where both are equal, ``f16_f32`` (operand_accumulator) where they differ.
    """

    operand: Element
    accumulator: Element

    def __str__(self) -> str:
        if self.operand == self.accumulator:
            return self.operand.name
        return f"{self.operand.name}_{self.accumulator.name}"

    @classmethod
    def parse(cls, text: str) -> DType:
        """Read ``f32`` or ``f16_f32``. Raises ``ValueError`` naming the known formats."""
        names = text.split("_")
        if len(names) > 2 or any(n not in _ELEMENTS for n in names):
            raise ValueError(f"unknown dtype {text!r}: known are {', '.join(_ELEMENTS)}, or OPERAND_ACCUMULATOR of two")
        return cls(_ELEMENTS[names[0]], _ELEMENTS[names[-1]])


def element(name: str) -> Element:
    """The format called ``name``. Raises ``ValueError`` naming the known formats."""
    return DType.parse(name).operand
