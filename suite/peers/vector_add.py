"""y = x + y by torch."""

import torch


def torch_add(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y += x``."""
    y.add_(x)
