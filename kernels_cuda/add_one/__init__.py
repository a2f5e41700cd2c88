"""y = x + 1 over dense vectors, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source
from pytest_roofline.operands import require_vectors
from pytest_roofline.remembered import remembered

from .._packs import launch_packs, launch_scalar

_HERE = Path(__file__).parent
SCALAR = Source(_HERE / "scalar.cu")
VECTORISED = Source(_HERE / "vectorised.cu")
EVICT_LAST = Source(_HERE / "evict_last.cu")


def scalar(x: torch.Tensor, y: torch.Tensor) -> None:
    """One element per thread. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("add_one", x, y)
    launch_scalar(SCALAR, "add_one_scalar", x, y)


@remembered
def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """16 bytes per thread. Raises ``ValueError`` as ``scalar`` does."""
    require_vectors("add_one", x, y)
    launch_packs(VECTORISED, "add_one_vectorised", x, y)


@remembered
def evict_last(x: torch.Tensor, y: torch.Tensor) -> None:
    """``vectorised``; of long vectors, L2 evicts last what was read. Raises ``ValueError`` as ``scalar`` does."""
    require_vectors("add_one", x, y)
    launch_packs(EVICT_LAST, "add_one_evict_last", x, y, eviction=True)
