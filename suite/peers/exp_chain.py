"""A chain of exponentials by torch."""

import torch


def torch_exp(x: torch.Tensor, y: torch.Tensor, *, steps: int) -> None:
    """``steps`` times ``torch.neg`` and ``torch.exp``, a kernel each."""
    torch.neg(x, out=y).exp_()
    for _ in range(steps - 1):
        y.neg_().exp_()
