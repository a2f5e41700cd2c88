"""y = x over dense f32 vectors, of which x starts anywhere and y at a boundary, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div, misalignment
from pytest_roofline.operands import require_vectors

from .._packs import BLOCK, PACK

_HERE = Path(__file__).parent
SCALAR = Source(_HERE / "scalar.cu")
REALIGNED = Source(_HERE / "realigned.cu")


def scalar(x: torch.Tensor, y: torch.Tensor) -> None:
    """One element per thread. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("offset_copy", x, y, dtype=torch.float32)
    n = y.numel()
    SCALAR.function("offset_copy_scalar")((ceil_div(n, BLOCK),), (BLOCK,), (x, y, n))


def realigned(x: torch.Tensor, y: torch.Tensor) -> None:
    """16 bytes per thread on both sides. Raises ``ValueError`` as ``scalar`` does, and for ``y`` off a boundary."""
    require_vectors("offset_copy", x, y, dtype=torch.float32)
    n, shift = y.numel(), misalignment(x, PACK) // x.element_size()
    if misalignment(y, PACK):
        raise ValueError("offset_copy/realigned takes dense vectors, of which y starts at a multiple of 16 bytes")
    name = f"offset_copy_realigned<{shift}>"
    REALIGNED.function(name)((ceil_div(n, 4 * BLOCK),), (BLOCK,), (x, y, n))
