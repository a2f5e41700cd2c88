"""c = a * b + c by torch."""

import torch


def torch_addcmul(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """``c += a * b``."""
    c.addcmul_(a, b)
