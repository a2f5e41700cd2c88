"""A copy from a misaligned vector by torch, by CuPy and by CUDA's runtime: the same calls as for ``copy``."""

import torch

from suite.peers import copy


def torch_copy(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = x``; torch hands dense copies of one dtype to ``cudaMemcpyAsync``."""
    copy.torch_copy(x, y)


def cupy_copy(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = x`` by ``cupy.copyto``."""
    copy.cupy_copy(x, y)


def memcpy(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = x`` by ``cudaMemcpyAsync``, device to device."""
    copy.memcpy(x, y)
