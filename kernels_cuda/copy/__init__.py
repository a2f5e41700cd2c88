"""y = x over dense vectors, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.l2 import persisting
from pytest_roofline.launch import Source
from pytest_roofline.operands import require_vectors
from pytest_roofline.remembered import remembered

from .._packs import launch_packs, launch_scalar

_HERE = Path(__file__).parent
SCALAR = Source(_HERE / "scalar.cu")
VECTORISED = Source(_HERE / "vectorised.cu")
EVICT_LAST = Source(_HERE / "evict_last.cu")
GRID_STRIDE = Source(_HERE / "grid_stride.cu")
UNROLLED = Source(_HERE / "unrolled.cu")


def scalar(x: torch.Tensor, y: torch.Tensor) -> None:
    """One element per thread. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("copy", x, y)
    launch_scalar(SCALAR, "copy_scalar", x, y)


@remembered
def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """16 bytes per thread. Raises ``ValueError`` as ``scalar`` does."""
    require_vectors("copy", x, y)
    launch_packs(VECTORISED, "copy_vectorised", x, y)


@remembered
def evict_last(x: torch.Tensor, y: torch.Tensor) -> None:
    """``vectorised``; of long vectors, L2 evicts last what was read. Raises ``ValueError`` as ``scalar`` does."""
    require_vectors("copy", x, y)
    launch_packs(EVICT_LAST, "copy_evict_last", x, y, eviction=True)


def grid_stride(x: torch.Tensor, y: torch.Tensor, *, max_blocks: int) -> None:
    """16 bytes per thread and iteration, at most ``max_blocks`` blocks, at least one.

    Raises ``ValueError`` as ``scalar`` does, and for fewer.
    """
    require_vectors("copy", x, y)
    launch_packs(GRID_STRIDE, "copy_grid_stride", x, y, most=max_blocks)


def unrolled(x: torch.Tensor, y: torch.Tensor, *, unroll: int) -> None:
    """``unroll`` packs of 16 bytes per thread. Raises ``ValueError`` as ``scalar`` does."""
    require_vectors("copy", x, y)
    launch_packs(UNROLLED, "copy_unrolled", x, y, unroll=unroll)


def l2_persistent(x: torch.Tensor, y: torch.Tensor) -> None:
    """``vectorised`` with ``y`` kept in L2 as far as it fits. Raises ``ValueError`` as ``scalar`` does."""
    with persisting(y):
        vectorised(x, y)
