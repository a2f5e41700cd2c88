"""A chain of sines by torch."""

import torch


def torch_sin(x: torch.Tensor, y: torch.Tensor, *, steps: int) -> None:
    """``steps`` times ``torch.sin``, a kernel each."""
    torch.sin(x, out=y)
    for _ in range(steps - 1):
        y.sin_()
