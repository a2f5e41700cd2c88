"""The softmax of rows by torch."""

import torch

from suite.peers.compiled import compiled


def torch_softmax(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = softmax(x, dim=1)`` by torch's own kernel."""
    torch.softmax(x, dim=1, out=y)


def torch_compile(x: torch.Tensor, y: torch.Tensor) -> None:
    """The same by ``torch.compile``: one generated kernel."""
    compiled(_softmax)(x, y)


def _softmax(x: torch.Tensor, y: torch.Tensor) -> None:
    y.copy_(torch.softmax(x, dim=1))
