"""A kernel that does nothing, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, require
from pytest_roofline.timing.capture import recorded

STREAM = Source(Path(__file__).with_name("stream.cu"))


def stream(token: torch.Tensor, *, blocks: int) -> None:
    """Launch ``blocks`` blocks that do nothing. Raises ``ValueError`` where ``token`` is not one element."""
    require(token.numel() == 1, "empty_launch takes one token")
    STREAM.function("empty_launch_stream")((blocks,), (32,), ())


def graph(token: torch.Tensor, *, blocks: int) -> None:
    """The same launch replayed from a CUDA graph that the first call on a token records; a CPU, without graphs,
    launches.

    Raises ``ValueError`` where ``token`` is not one element.
    """
    if not token.is_cuda or not blocks:
        return stream(token, blocks=blocks)
    require(token.numel() == 1, "empty_launch takes one token")
    recorded(stream, token, blocks=blocks).replay()
