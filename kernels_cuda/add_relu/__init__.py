"""y = max(x + 1, 0) over dense vectors, in CUDA C++; NaN stays NaN, as in torch."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source
from pytest_roofline.operands import require_vectors
from pytest_roofline.remembered import remembered

from .._packs import launch_packs, launch_scalar

_HERE = Path(__file__).parent
UNFUSED = Source(_HERE / "unfused.cu")
FUSED = Source(_HERE / "fused.cu")


def unfused(x: torch.Tensor, y: torch.Tensor, *, sums: torch.Tensor) -> None:
    """``sums = x + 1``, then ``y = relu(sums)``. Raises ``ValueError`` unless all are dense vectors of one length."""
    require_vectors("add_relu", x, y, sums)
    launch_packs(UNFUSED, "add_relu_unfused_sum", x, sums, eviction=True)
    launch_packs(UNFUSED, "add_relu_unfused_relu", sums, y, eviction=True)


def unfused_scalar(x: torch.Tensor, y: torch.Tensor, *, sums: torch.Tensor) -> None:
    """``unfused``, one element per thread. Raises ``ValueError`` as ``unfused`` does."""
    require_vectors("add_relu", x, y, sums)
    launch_scalar(UNFUSED, "add_relu_unfused_scalar_sum", x, sums)
    launch_scalar(UNFUSED, "add_relu_unfused_scalar_relu", sums, y)


def fused_scalar(x: torch.Tensor, y: torch.Tensor) -> None:
    """One element per thread. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("add_relu", x, y)
    launch_scalar(FUSED, "add_relu_fused_scalar", x, y)


@remembered
def fused(x: torch.Tensor, y: torch.Tensor) -> None:
    """16 bytes per thread. Raises ``ValueError`` as ``fused_scalar`` does."""
    require_vectors("add_relu", x, y)
    launch_packs(FUSED, "add_relu_fused", x, y, eviction=True)
