"""y = x + 1 over dense vectors. The rungs differ in elements per thread: block / (32 * num_warps)."""

import torch
import triton
import triton.language as tl

from ._blocks import Table, launch_blocks, pick, require_vectors

TUNED: Table = ((None, 2048, 4),)


@triton.jit
def _add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # I/O: read x, write y. 64-bit offsets: program x BLOCK passes 2^31 on large GPUs.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    if start + BLOCK <= n:  # a mask that the compiler cannot prove constant over 16 bytes would split the accesses
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) + 1)
    else:
        inside = offsets < n
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside) + 1, mask=inside)


def add_one(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per ``block`` elements. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("add_one", x, y)
    launch_blocks(_add_one, x, y, block=block, num_warps=num_warps)


def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """``add_one`` as ``TUNED`` says for the size at hand. Raises ``ValueError`` as ``add_one`` does."""
    block, num_warps = pick(TUNED, y.nbytes)
    add_one(x, y, block=block, num_warps=num_warps)
