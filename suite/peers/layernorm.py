"""Layer normalisation of rows by torch.

The eager call has no form that writes into the caller's tensor. Its result is copied there, but not in a captured
graph: what is timed is the call alone, as a user would make it.
"""

import torch
from torch.nn.functional import layer_norm

from suite.peers.compiled import compiled

EPS = 1e-5


def torch_layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, y: torch.Tensor) -> None:
    """``y = layer_norm(x)`` by torch's own kernel."""
    result = layer_norm(x, x.shape[1:], weight, bias, EPS)
    if not (x.is_cuda and torch.cuda.is_current_stream_capturing()):
        y.copy_(result)


def torch_compile(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, y: torch.Tensor) -> None:
    """The same by ``torch.compile``: one generated kernel."""
    compiled(_layer_norm)(x, weight, bias, y)


def _layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, y: torch.Tensor) -> None:
    y.copy_(layer_norm(x, x.shape[1:], weight, bias, EPS))
