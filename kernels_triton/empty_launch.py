"""A kernel that does nothing, in Triton."""

import torch
import triton

from pytest_roofline.launch import require
from pytest_roofline.timing.capture import recorded


@triton.jit
def _nothing(token_ptr):
    # Triton finds the device by the pointer; it is not followed.
    pass


def stream(token: torch.Tensor, *, blocks: int) -> None:
    """Launch ``blocks`` programs that do nothing. Raises ``ValueError`` where ``token`` is not one element."""
    require(token.numel() == 1, "empty_launch takes one token")
    if blocks:
        _nothing[(blocks,)](token, num_warps=1)


def graph(token: torch.Tensor, *, blocks: int) -> None:
    """The same launch replayed from a CUDA graph that the first call on a token records; a CPU, without graphs,
    launches.

    Raises ``ValueError`` where ``token`` is not one element.
    """
    if not token.is_cuda or not blocks:
        return stream(token, blocks=blocks)
    require(token.numel() == 1, "empty_launch takes one token")
    recorded(stream, token, blocks=blocks).replay()
