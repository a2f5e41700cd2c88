"""y = x + 1 by torch, eager and compiled, and by CuPy."""

import functools
from typing import Any

import torch

from suite.peers.compiled import compiled
from suite.peers.cupy_memory import cupy_on_torch


def torch_add(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = x + 1``."""
    torch.add(x, 1, out=y)


def torch_compiled(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = x + 1``, compiled."""
    compiled(_add_one)(x, y)


def cupy_fused(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = x + 1`` by ``cupy.fuse``."""
    with cupy_on_torch(y) as cupy:
        _fused()(cupy.asarray(x), cupy.asarray(y))


def _add_one(x: torch.Tensor, y: torch.Tensor) -> None:
    y.copy_(x + 1)


@functools.cache
def _fused() -> Any:
    import cupy

    @cupy.fuse()
    def add_one(x: Any, y: Any) -> None:
        cupy.add(x, 1, out=y)

    return add_one
