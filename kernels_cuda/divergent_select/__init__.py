"""y[i, j] = f(x[i, j]) where c[i] > 0, else g(x[i, j]), over dense f32, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div, require
from pytest_roofline.operands import require_dtype, require_matrices

BLOCK = 256

_HERE = Path(__file__).parent
PER_LANE = Source(_HERE / "per_lane.cu")
PER_WARP = Source(_HERE / "per_warp.cu")
BRANCH_FREE = Source(_HERE / "branch_free.cu")


def per_lane(c: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> None:
    """A branch per lane. Raises ``ValueError`` unless all are dense, with one selector per row."""
    _launch(PER_LANE, "divergent_select_per_lane", c, x, y)


def per_warp(c: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> None:
    """A branch per warp, after a vote. Raises ``ValueError`` as ``per_lane`` does."""
    _launch(PER_WARP, "divergent_select_per_warp", c, x, y)


def branch_free(c: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> None:
    """Both sides and a selection. Raises ``ValueError`` as ``per_lane`` does."""
    _launch(BRANCH_FREE, "divergent_select_branch_free", c, x, y)


def _launch(source: Source, name: str, c: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> None:
    require_matrices("divergent_select", x)
    require_dtype("divergent_select", torch.float32, c, x, y)
    dense = all(t.is_contiguous() for t in (c, x, y))
    require(dense and x.shape == y.shape and c.shape == x.shape[:1], "divergent_select takes dense rows and selectors")
    n = y.numel()
    index = "unsigned int" if n < 1 << 31 else "unsigned long long"  # a division of 64 bits would cost as much as f
    source.function(f"{name}<{index}>")((ceil_div(n, BLOCK),), (BLOCK,), (c, x, y, n, x.shape[1]))
