"""A selection between two computed vectors by torch."""

import torch

STEPS = 64


def torch_where(c: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> None:
    """Both chains, a pair of kernels per step, and ``torch.where``."""
    one, other = x.clone(), x.clone()
    for _ in range(STEPS):
        one.mul_(0.75).add_(0.5)
        other.mul_(-0.5).add_(0.25)
    torch.where((c > 0)[:, None], one, other, out=y)
