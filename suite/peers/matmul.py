"""The matrix product by torch."""

import torch

from suite.peers.cublas import mm


def torch_mm(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """``c = a @ b`` by cuBLAS, kept off the tensor cores."""
    mm(a, b, c, tf32=False)
