"""y = x + y by torch and by CuPy."""

import torch

from suite.peers.cupy_memory import cupy_on_torch


def torch_add(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y += x``."""
    y.add_(x)


def cupy_add(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y += x``; CuPy compiles an elementwise kernel for it."""
    with cupy_on_torch(y) as cupy:
        out = cupy.asarray(y)
        cupy.add(cupy.asarray(x), out, out=out)
