"""How wrong a result may be: the one error rule of an operation, what it looks at, and the bounds that it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_roofline.dtypes import DType

if TYPE_CHECKING:
    import torch

    Tensors = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class Bound:
    """Largest admissible absolute error of one output, elementwise in float64 (scalar tensors broadcast).

    Where ``may_overflow`` holds, some order of evaluation leaves the finite range although the exact result does not:
    there an infinity or NaN is admitted as well. ``signed_zero`` also compares the sign of zeros.
    """

    absolute: torch.Tensor
    may_overflow: torch.Tensor | None = None
    signed_zero: bool = False


@dataclass(frozen=True)
class Computed:
    """What a tolerance rule may look at: the float64 (integers: int64) inputs and exact outputs of one check.

    ``depth`` is the longest chain of rounded additions from any input to the output in the kernel at hand, ``dtype``
    the case's formats, ``dims`` its extents.
    """

    inputs: Tensors
    outputs: Tensors
    dtype: DType
    dims: tuple[int, ...]
    depth: int


@dataclass(frozen=True)
class Tolerance:
    """The one error rule of an operation: a forward error bound from dtype, depth and data, and where it comes from.

    ``whole`` says that the rule knows of sums of small whole numbers that they are exact. A worst-case bound of random
    numbers grows with the length of a sum faster than the sum itself, until a result of zeros is within it; so what has
    passed with those is also checked with whole numbers; but not what is interpreted, whose sums are short, nor peers.
    """

    bound: Callable[[Computed], Mapping[str, Bound]]
    source: str
    whole: bool = False
