"""y = sin(sin(... x)) over dense f32 vectors, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source
from pytest_roofline.operands import require_vectors

from .._packs import launch_packs

_HERE = Path(__file__).parent
PRECISE = Source(_HERE / "precise.cu")
FAST = Source(_HERE / "fast.cu")


def precise(x: torch.Tensor, y: torch.Tensor, *, steps: int) -> None:
    """``steps`` library functions per element. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("sin_chain", x, y, dtype=torch.float32)
    launch_packs(PRECISE, "sin_chain_precise", x, y, extra=(steps,))


def fast(x: torch.Tensor, y: torch.Tensor, *, steps: int) -> None:
    """``steps`` intrinsics per element. Raises ``ValueError`` as ``precise`` does."""
    require_vectors("sin_chain", x, y, dtype=torch.float32)
    launch_packs(FAST, "sin_chain_fast", x, y, extra=(steps,))
