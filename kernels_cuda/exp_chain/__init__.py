"""y = exp(-exp(... -x)) over dense f32 vectors, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div

from .._packs import BLOCK, require_vectors

_HERE = Path(__file__).parent
PRECISE = Source(_HERE / "precise.cu")
FAST = Source(_HERE / "fast.cu")


def precise(x: torch.Tensor, y: torch.Tensor, *, steps: int) -> None:
    """``steps`` library functions per element. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("exp_chain", x, y)
    n = y.numel()
    PRECISE.function("exp_chain_precise")((ceil_div(n, BLOCK),), (BLOCK,), (x, y, n, steps))


def fast(x: torch.Tensor, y: torch.Tensor, *, steps: int) -> None:
    """``steps`` intrinsics per element. Raises ``ValueError`` as ``precise`` does."""
    require_vectors("exp_chain", x, y)
    n = y.numel()
    FAST.function("exp_chain_fast")((ceil_div(n, BLOCK),), (BLOCK,), (x, y, n, steps))
