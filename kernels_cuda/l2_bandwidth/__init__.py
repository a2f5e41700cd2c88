"""Sums over rows that stay in L2, in CUDA C++: one block per row."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, misalignment, require

ROW = 1024  # elements; also the most threads of a block
SHIFT = 1607  # rows from one pass to the next
PACK = 16  # bytes of one vector access

SCALAR = Source(Path(__file__).with_name("scalar.cu"))
VECTORISED = Source(Path(__file__).with_name("vectorised.cu"))


def scalar(x: torch.Tensor, y: torch.Tensor, *, passes: int) -> None:
    """``y[c] = x[c] + x[c + 1607] + ...``, ``passes`` terms, rows counted modulo their number.

    Raises ``ValueError`` unless both are dense with rows of 1024 elements.
    """
    _require_rows(x, y)
    rows = x.shape[0]
    SCALAR.function("l2_bandwidth_scalar")((rows,), (ROW,), (x, rows, SHIFT % max(rows, 1), passes, y))


def vectorised(x: torch.Tensor, y: torch.Tensor, *, passes: int) -> None:
    """As :func:`scalar`, four elements per load. Raises ``ValueError`` as it does, and for rows off 16 bytes."""
    _require_rows(x, y)
    require(misalignment(x, PACK) == misalignment(y, PACK) == 0, "l2_bandwidth takes rows at multiples of 16 bytes")
    rows = x.shape[0]
    VECTORISED.function("l2_bandwidth_vectorised")((rows,), (ROW // 4,), (x, rows, SHIFT % max(rows, 1), passes, y))


def _require_rows(x: torch.Tensor, y: torch.Tensor) -> None:
    dense = x.shape == y.shape and x.is_contiguous() and y.is_contiguous()
    require(dense and x.shape[1:] == (ROW,), f"l2_bandwidth takes dense rows of {ROW} elements")
