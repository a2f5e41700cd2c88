"""y = x + y over dense vectors: one program adds one block."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div, require


@triton.jit
def _add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # I/O: read x and y, write y. 64-bit offsets: program x BLOCK passes 2^31 on large GPUs.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(y_ptr + offsets, x + y, mask=inside)


def vector_add(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """``y += x`` for dense vectors of one length. Raises ``ValueError`` for anything else."""
    require(x.shape == y.shape and x.is_contiguous() and y.is_contiguous(), "vector_add takes two dense equal vectors")
    if y.numel():
        _add[(ceil_div(y.numel(), block),)](x, y, y.numel(), BLOCK=block, num_warps=num_warps)
