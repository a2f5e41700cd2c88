"""y = x + y over dense vectors, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.l2 import persisting
from pytest_roofline.launch import Source, c_type, ceil_div, misalignment, require
from pytest_roofline.operands import require_vectors
from pytest_roofline.remembered import remembered

from .._packs import BLOCK, PACK, launch_packs, launch_scalar

_HERE = Path(__file__).parent
SCALAR = Source(_HERE / "scalar.cu")
VECTORISED = Source(_HERE / "vectorised.cu")
EVICT_LAST = Source(_HERE / "evict_last.cu")
HINTED = Source(_HERE / "hinted.cu")
UNMASKED = Source(_HERE / "unmasked.cu")


def scalar(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y += x``, one element per thread. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("vector_add", x, y)
    launch_scalar(SCALAR, "vector_add_scalar", x, y)


@remembered
def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y += x``, 16 bytes per thread; vectors that no common shift aligns are added one element per thread.

    Raises ``ValueError`` unless both are dense vectors of one length.
    """
    require_vectors("vector_add", x, y)
    launch_packs(VECTORISED, "vector_add_vectorised", x, y)


@remembered
def evict_last(x: torch.Tensor, y: torch.Tensor) -> None:
    """``vectorised``; of long vectors, L2 evicts last what was read. Raises ``ValueError`` as ``scalar`` does."""
    require_vectors("vector_add", x, y)
    launch_packs(EVICT_LAST, "vector_add_evict_last", x, y, eviction=True)


def hinted(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y += x`` from a 16-byte boundary on. Raises ``ValueError`` elsewhere, and as ``scalar`` does."""
    require_vectors("vector_add", x, y)
    _require_aligned("hinted", x, y)
    n, width = y.numel(), PACK // y.element_size()
    HINTED.function(f"vector_add_hinted<{c_type(y)}, {width}>")((ceil_div(n, width * BLOCK),), (BLOCK,), (x, y, n))


def unmasked(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y += x`` for whole blocks of 256 packs. Raises ``ValueError`` for anything else."""
    require_vectors("vector_add", x, y)
    _require_aligned("unmasked", x, y)
    require(y.nbytes % (BLOCK * PACK) == 0, f"vector_add/unmasked takes dense multiples of {BLOCK * PACK} bytes")
    UNMASKED.function(f"vector_add_unmasked<{c_type(y)}>")((y.nbytes // (BLOCK * PACK),), (BLOCK,), (x, y))


def l2_persistent(x: torch.Tensor, y: torch.Tensor) -> None:
    """``vectorised`` with ``y`` kept in L2 as far as it fits. Raises ``ValueError`` as ``scalar`` does."""
    with persisting(y):
        vectorised(x, y)


def _require_aligned(variant: str, x: torch.Tensor, y: torch.Tensor) -> None:
    aligned = misalignment(x, PACK) == misalignment(y, PACK) == 0
    require(aligned, f"vector_add/{variant} takes dense vectors that start at multiples of {PACK} bytes")
