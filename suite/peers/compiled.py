"""torch.compile for the peers: compiled by Inductor, without CUDA graphs, because the timing makes its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch


@functools.cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` compiled for static shapes. On a CPU it runs as it is: what is timed there is nothing."""
    if not torch.cuda.is_available():
        return function
    result: Callable[..., Any] = torch.compile(function, dynamic=False)
    return result
