"""A chain of kernels that add one, in Triton."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import require
from pytest_roofline.timing.capture import recorded


@triton.jit
def _add_one(token_ptr):
    tl.store(token_ptr, tl.load(token_ptr) + 1)


def stream(token: torch.Tensor, *, length: int) -> None:
    """``token += 1`` by ``length`` launches. Raises ``ValueError`` where ``token`` is not one element."""
    require(token.numel() == 1, "launch_chain takes one token")
    for _ in range(length):
        _add_one[(1,)](token, num_warps=1)


def graph(token: torch.Tensor, *, length: int) -> None:
    """The same chain from a CUDA graph that the first call on a token records; a CPU, without graphs, launches.

    Raises ``ValueError`` where ``token`` is not one element.
    """
    if not token.is_cuda or not length:
        return stream(token, length=length)
    require(token.numel() == 1, "launch_chain takes one token")
    recorded(stream, token, length=length).replay()
