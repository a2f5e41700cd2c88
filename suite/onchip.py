"""What the probes share: shapes, a sum over rotated rows whose every read matters, and its error bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from pytest_roofline.contract import Bound, Computed, Shapes
from pytest_roofline.ids import Shape
from pytest_roofline.shapes import extents
from suite.bounds import finite_magnitude, summation

if TYPE_CHECKING:
    import torch

NO_SHARED_MEMORY = "Triton places data in shared memory itself: a program can neither put it there nor choose its banks"

NO_COPY_ENGINE = "Triton has no call for the copy engine; zero_copy is what its programs can do"


def small(*axes: tuple[int, int]) -> st.SearchStrategy[Shape]:
    """Dense shapes whose extents lie around the multiples of a tile; an axis is ``(tile, most)``."""
    return st.tuples(*(extents(tile, most) for tile, most in axes)).map(Shape)


SIZES = Shapes(
    drawn=lambda tile: small((tile[0], tile[0] + 99)),
    sweep=("67108864",),
    representative=("67108864",),
    counted=("4096", "1000", "4099", "7", "0"),
    # From what the launch costs to what the link does; 32 MB is what CUDA's bandwidthTest moves.
    full=("4096", "65536", "1048576", "32000000", "268435456"),
)
"""Bytes that the transfers between host and device move in one direction."""


def rotated_sum(x: torch.Tensor, passes: int, shift: int, dim: int) -> torch.Tensor:
    """The sum over ``p < passes`` of ``x`` rotated by ``p * shift`` to the left along ``dim``."""
    total = x.new_zeros(x.shape)
    for p in range(passes):
        total += x.roll(-p * shift, dim)
    return total


def sum_bound(terms: int, sum_of: Callable[[torch.Tensor], torch.Tensor], computed: Computed) -> dict[str, Bound]:
    """Bound of ``y = sum_of(x)``, sums of ``terms`` elements of ``x`` each."""
    magnitude = sum_of(finite_magnitude(computed.inputs["x"]))
    return {"y": summation(magnitude, terms, computed.depth, computed.dtype.accumulator)}
