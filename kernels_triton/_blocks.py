"""What launchers of kernels over dense vectors share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from pytest_roofline.launch import ceil_div, misalignment, require

PACK = 16  # bytes of the widest access of one thread

# For vectors of at most so many bytes (None: any more): elements of a block, its warps.
Table = Sequence[tuple["int | None", int, int]]


def require_vectors(name: str, *tensors: torch.Tensor) -> None:
    """Raise ``ValueError`` unless all are dense and of one shape."""
    same = all(t.shape == tensors[0].shape and t.is_contiguous() for t in tensors)
    require(same, f"{name} takes dense equal vectors")


def launch_blocks(kernel: Any, *tensors: torch.Tensor, block: int, num_warps: int) -> None:
    """Launch ``kernel(tensors..., n, BLOCK)`` with one program per block.

    Where all vectors start equally far past a 16-byte boundary, the elements before the next one get a program of their
    own, in a launch of their own: Triton specialises on pointers divisible by 16, and only those give wide accesses.
    """
    n = tensors[0].numel()
    shift = misalignment(tensors[0], PACK)
    if shift and all(misalignment(t, PACK) == shift for t in tensors[1:]):
        head = min(n, (PACK - shift) // tensors[0].element_size())
        kernel[(min(head, 1),)](*(t[:head] for t in tensors), head, BLOCK=PACK, num_warps=1)
        n, tensors = n - head, tuple(t[head:] for t in tensors)
    if n:
        kernel[(ceil_div(n, block),)](*tensors, n, BLOCK=block, num_warps=num_warps)


def pick(table: Table, nbytes: int) -> tuple[int, int]:
    """Block and warps that ``table`` gives for a vector of ``nbytes``."""
    return next((block, warps) for limit, block, warps in table if limit is None or nbytes <= limit)
