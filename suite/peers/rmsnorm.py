"""Root-mean-square normalisation of rows by torch.

The eager call has no form that writes into the caller's tensor. Its result is copied there, but not in a captured
graph: what is timed is the call alone, as a user would make it.
"""

import torch
from torch.nn.functional import rms_norm

from suite.peers.compiled import compiled

EPS = 1e-6


def torch_rms_norm(x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor) -> None:
    """``y = rms_norm(x)``: a kernel of its own since torch 2.9, several elementwise ones before."""
    result = rms_norm(x, x.shape[1:], weight, EPS)
    if not (x.is_cuda and torch.cuda.is_current_stream_capturing()):
        y.copy_(result)


def torch_compile(x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor) -> None:
    """The same by ``torch.compile``: one generated kernel."""
    compiled(_rms_norm)(x, weight, y)


def _rms_norm(x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor) -> None:
    y.copy_(rms_norm(x, x.shape[1:], weight, EPS))
