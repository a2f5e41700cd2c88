"""A chain of pointers, followed by one thread, in CUDA C++. A pointer is the index of the element it points to."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, require

LINE = 32  # elements between two pointers
SHARED_LINES = 8192
LOADERS = 256  # threads that bring the chain into shared memory

_HERE = Path(__file__).parent
SHARED = Source(_HERE / "shared.cu")
CACHED = Source(_HERE / "cached.cu")
UNCACHED = Source(_HERE / "uncached.cu")


def shared(pointers: torch.Tensor, end: torch.Tensor, *, steps: int) -> None:
    """``end[0]``: where ``steps`` pointers lead to from element 0, all of them in shared memory.

    Raises ``ValueError`` for more than 8192 lines, and unless both are dense and pointers start lines of 32 elements.
    """
    lines = _lines(pointers, end)
    require(lines <= SHARED_LINES, f"pointer_chase in shared memory takes at most {SHARED_LINES} lines")
    SHARED.function("pointer_chase_shared")((1,), (LOADERS,), (pointers, lines, steps, end))


def cached(pointers: torch.Tensor, end: torch.Tensor, *, steps: int) -> None:
    """``end[0]``: where ``steps`` pointers lead to from element 0, through L1. Raises ``ValueError`` unless dense."""
    _lines(pointers, end)
    CACHED.function("pointer_chase_cached")((1,), (1,), (pointers, steps, end))


def uncached(pointers: torch.Tensor, end: torch.Tensor, *, steps: int) -> None:
    """``end[0]``: where ``steps`` pointers lead to from element 0, past L1. Raises ``ValueError`` unless dense."""
    _lines(pointers, end)
    UNCACHED.function("pointer_chase_uncached")((1,), (1,), (pointers, steps, end))


def _lines(pointers: torch.Tensor, end: torch.Tensor) -> int:
    whole = pointers.is_contiguous() and pointers.numel() > 0 and pointers.numel() % LINE == 0
    require(whole and end.numel() == 1, f"pointer_chase takes dense lines of {LINE} elements and one result")
    return pointers.numel() // LINE
