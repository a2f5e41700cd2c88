"""y = x over dense vectors, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.l2 import persisting
from pytest_roofline.launch import Source, c_type

from .._packs import Table, launch_packs, launch_scalar, pick, require_vectors

_HERE = Path(__file__).parent
SCALAR = Source(_HERE / "scalar.cu")
VECTORISED = Source(_HERE / "vectorised.cu")
GRID_STRIDE = Source(_HERE / "grid_stride.cu")
UNROLLED = Source(_HERE / "unrolled.cu")

TUNED: Table = ((None, 256, 1),)


def scalar(x: torch.Tensor, y: torch.Tensor) -> None:
    """One element per thread. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("copy", x, y)
    launch_scalar(SCALAR, "copy_scalar", x, y)


def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """16 bytes per thread. Raises ``ValueError`` as ``scalar`` does."""
    require_vectors("copy", x, y)
    launch_packs(VECTORISED.function(f"copy_vectorised<{c_type(y)}>"), x, y)


def grid_stride(x: torch.Tensor, y: torch.Tensor, *, max_blocks: int) -> None:
    """16 bytes per thread and iteration, at most ``max_blocks`` blocks. Raises ``ValueError`` as ``scalar`` does."""
    require_vectors("copy", x, y)
    launch_packs(GRID_STRIDE.function(f"copy_grid_stride<{c_type(y)}>"), x, y, most=max_blocks)


def unrolled(x: torch.Tensor, y: torch.Tensor, *, unroll: int, threads: int) -> None:
    """``unroll`` packs of 16 bytes per thread. Raises ``ValueError`` as ``scalar`` does."""
    require_vectors("copy", x, y)
    function = UNROLLED.function(f"copy_unrolled<{c_type(y)}, {unroll}>")
    launch_packs(function, x, y, unroll=unroll, threads=threads)


def tuned(x: torch.Tensor, y: torch.Tensor) -> None:
    """``unrolled`` as ``TUNED`` says for the size at hand. Raises ``ValueError`` as ``scalar`` does."""
    threads, unroll = pick(TUNED, y.nbytes)
    unrolled(x, y, unroll=unroll, threads=threads)


def l2_persistent(x: torch.Tensor, y: torch.Tensor) -> None:
    """``tuned`` with ``y`` kept in L2 as far as it fits. Raises ``ValueError`` as ``scalar`` does."""
    with persisting(y):
        tuned(x, y)
