"""Sums over a tile in shared memory, in CUDA C++: one block per tile."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, misalignment, require

TILE = 1024  # elements; also the most threads of a block
PACK = 16  # bytes of one vector access

SCALAR = Source(Path(__file__).with_name("scalar.cu"))
VECTORISED = Source(Path(__file__).with_name("vectorised.cu"))


def scalar(x: torch.Tensor, y: torch.Tensor, *, passes: int) -> None:
    """``y[b, j] = x[b, j] + x[b, j + 32] + ...``, ``passes`` terms, columns counted modulo 1024.

    Raises ``ValueError`` unless both are dense with rows of 1024 elements.
    """
    _require_tiles(x, y)
    SCALAR.function("shared_bandwidth_scalar")((x.shape[0],), (TILE,), (x, passes, y))


def vectorised(x: torch.Tensor, y: torch.Tensor, *, passes: int) -> None:
    """As :func:`scalar`, four elements per read. Raises ``ValueError`` as it does, and for rows off 16 bytes."""
    _require_tiles(x, y)
    require(misalignment(x, PACK) == misalignment(y, PACK) == 0, "shared_bandwidth takes rows at multiples of 16 bytes")
    VECTORISED.function("shared_bandwidth_vectorised")((x.shape[0],), (TILE // 4,), (x, passes, y))


def _require_tiles(x: torch.Tensor, y: torch.Tensor) -> None:
    dense = x.shape == y.shape and x.is_contiguous() and y.is_contiguous()
    require(dense and x.shape[1:] == (TILE,), f"shared_bandwidth takes dense rows of {TILE} elements")
