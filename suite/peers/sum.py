"""The sum of a vector by torch and by CuPy."""

import torch

from suite.peers.cupy_memory import cupy_on_torch


def torch_sum(x: torch.Tensor, total: torch.Tensor) -> None:
    """``total[0] = x.sum()``; torch takes scratch memory for its second stage."""
    torch.sum(x, dim=0, keepdim=True, dtype=total.dtype, out=total)


def cupy_sum(x: torch.Tensor, total: torch.Tensor) -> None:
    """``total[0] = x.sum()`` by CUB's device-wide reduction, which takes scratch memory, and a copy of its result."""
    with cupy_on_torch(x) as cupy:
        cupy.sum(cupy.asarray(x), axis=0, keepdims=True, out=cupy.asarray(total))
