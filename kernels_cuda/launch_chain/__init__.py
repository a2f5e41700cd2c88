"""A chain of kernels that add one, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, require
from pytest_roofline.timing.capture import recorded

STREAM = Source(Path(__file__).with_name("stream.cu"))


def stream(token: torch.Tensor, *, length: int) -> None:
    """``token += 1`` by ``length`` launches. Raises ``ValueError`` where ``token`` is not one element."""
    require(token.numel() == 1, "launch_chain takes one token")
    link = STREAM.function("launch_chain_stream")
    for _ in range(length):
        link((1,), (1,), (token,))


def graph(token: torch.Tensor, *, length: int) -> None:
    """The same chain from a CUDA graph that the first call on a token records; a CPU, without graphs, launches.

    Raises ``ValueError`` where ``token`` is not one element.
    """
    if not token.is_cuda or not length:
        return stream(token, length=length)
    require(token.numel() == 1, "launch_chain takes one token")
    recorded(stream, token, length=length).replay()
