"""y = x + y over dense vectors, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_type, ceil_div, misalignment, require

BLOCK = 256
PACK = 16  # bytes of one vector access

SCALAR = Source(Path(__file__).with_name("scalar.cu"))
VECTORISED = Source(Path(__file__).with_name("vectorised.cu"))


def scalar(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y += x``, one element per thread. Raises ``ValueError`` unless both are dense vectors of one length."""
    _require_vectors(x, y)
    n = y.numel()
    SCALAR.function(f"vector_add_scalar<{c_type(y)}>")((ceil_div(n, BLOCK),), (BLOCK,), (x, y, n))


def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y += x``, 16 bytes per thread; vectors that no common shift aligns are added one element per thread.

    Raises ``ValueError`` unless both are dense vectors of one length.
    """
    if misalignment(x, PACK) != misalignment(y, PACK):
        return scalar(x, y)
    _require_vectors(x, y)
    n, itemsize = y.numel(), y.element_size()
    head = min(n, -misalignment(y, PACK) % PACK // itemsize)
    # The edges, fewer than two packs, always fit into one block.
    threads = max((n - head) * itemsize // PACK, min(n, 1))
    function = VECTORISED.function(f"vector_add_vectorised<{c_type(y)}>")
    function((ceil_div(threads, BLOCK),), (BLOCK,), (x, y, n, head))


def _require_vectors(x: torch.Tensor, y: torch.Tensor) -> None:
    require(x.shape == y.shape and x.is_contiguous() and y.is_contiguous(), "vector_add takes two dense equal vectors")
