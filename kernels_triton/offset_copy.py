"""y = x over dense f32 vectors, of which x starts anywhere and y at a boundary."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div
from pytest_roofline.operands import require_vectors

from ._blocks import NARROW, block_start
from ._launch import launch


@triton.jit
def _offset_copy_at(x_ptr, y_ptr, offsets, inside):
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside), mask=inside)


@triton.jit
def _offset_copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    # Triton specialises on pointers divisible by 16: off a boundary the loads become four bytes wide, and the stores
    # with them, because both share one layout.
    start = block_start(BLOCK, WIDE)
    offsets = start + tl.arange(0, BLOCK)
    if start + BLOCK <= n:
        _offset_copy_at(x_ptr, y_ptr, offsets, None)
    else:
        _offset_copy_at(x_ptr, y_ptr, offsets, offsets < n)


def scalar(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per ``block`` elements. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("offset_copy", x, y, dtype=torch.float32)
    n = y.numel()
    if n:
        grid = (ceil_div(n, block),)
        launch(_offset_copy, grid, x, y, n, BLOCK=block, WIDE=n > NARROW - block, num_warps=num_warps)
