"""y = max(x + 1, 0) by torch, eager and compiled, and by CuPy."""

import functools
from typing import Any

import torch

from suite.peers.compiled import compiled
from suite.peers.cupy_memory import cupy_on_torch


def torch_eager(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = relu(x + 1)``: two kernels, the second in place."""
    torch.add(x, 1, out=y)
    y.relu_()


def torch_compiled(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = relu(x + 1)``, compiled into one kernel."""
    compiled(_add_relu)(x, y)


def cupy_fused(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = max(x + 1, 0)`` by ``cupy.fuse``; its maximum keeps NaN."""
    with cupy_on_torch(y) as cupy:
        _fused()(cupy.asarray(x), cupy.asarray(y))


def _add_relu(x: torch.Tensor, y: torch.Tensor) -> None:
    y.copy_((x + 1).relu())


@functools.cache
def _fused() -> Any:
    import cupy

    @cupy.fuse()
    def add_relu(x: Any, y: Any) -> None:
        cupy.maximum(x + 1, 0, out=y)

    return add_relu
