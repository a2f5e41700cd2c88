"""A chain of pointers, followed by one program. A pointer is the index of the element it points to."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import require

LINE = 32  # elements between two pointers


@triton.jit
def _chase(pointers_ptr, steps, end_ptr, CACHE: tl.constexpr):
    position = tl.full([], 0, tl.int32)
    for _ in range(steps):
        position = tl.load(pointers_ptr + position, cache_modifier=CACHE)
    tl.store(end_ptr, position)


def cached(pointers: torch.Tensor, end: torch.Tensor, *, steps: int) -> None:
    """``end[0]``: where ``steps`` pointers lead to from element 0, through L1. Raises ``ValueError`` unless dense."""
    _launch(pointers, end, steps, ".ca")


def uncached(pointers: torch.Tensor, end: torch.Tensor, *, steps: int) -> None:
    """``end[0]``: where ``steps`` pointers lead to from element 0, past L1. Raises ``ValueError`` unless dense."""
    _launch(pointers, end, steps, ".cg")


def _launch(pointers: torch.Tensor, end: torch.Tensor, steps: int, cache: str) -> None:
    whole = pointers.is_contiguous() and pointers.numel() > 0 and pointers.numel() % LINE == 0
    require(whole and end.numel() == 1, f"pointer_chase takes dense lines of {LINE} elements and one result")
    _chase[(1,)](pointers, steps, end, CACHE=cache, num_warps=1)
