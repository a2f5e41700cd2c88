"""y = x over dense f32 vectors, of which x starts anywhere and y at a boundary."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div

from ._blocks import require_vectors


@triton.jit
def _offset_copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # Triton specialises on pointers divisible by 16: off a boundary the loads become four bytes wide, and the stores
    # with them, because both share one layout.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    if start + BLOCK <= n:  # a mask that the compiler cannot prove constant over 16 bytes would split the accesses
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))
    else:
        inside = offsets < n
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside), mask=inside)


def scalar(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per ``block`` elements. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("offset_copy", x, y)
    n = y.numel()
    if n:
        _offset_copy[(ceil_div(n, block),)](x, y, n, BLOCK=block, num_warps=num_warps)
