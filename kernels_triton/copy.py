"""y = x over dense vectors. The rungs differ in elements per thread: block / (32 * num_warps)."""

import torch
import triton
import triton.language as tl

from pytest_roofline.l2 import persisting
from pytest_roofline.launch import ceil_div

from ._blocks import Table, launch_blocks, pick, require_vectors

TUNED: Table = ((None, 2048, 4),)


@triton.jit
def _copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # I/O: read x, write y. 64-bit offsets: program x BLOCK passes 2^31 on large GPUs.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    if start + BLOCK <= n:  # a mask that the compiler cannot prove constant over 16 bytes would split the accesses
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))
    else:
        inside = offsets < n
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside), mask=inside)


@triton.jit
def _copy_grid_stride(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # A program walks over blocks a grid apart instead of being replaced by the next one.
    first = tl.program_id(0).to(tl.int64) * BLOCK
    for start in range(first, n, tl.num_programs(0).to(tl.int64) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        if start + BLOCK <= n:
            tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))
        else:
            inside = offsets < n
            tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside), mask=inside)


def copy(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per ``block`` elements. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("copy", x, y)
    launch_blocks(_copy, x, y, block=block, num_warps=num_warps)


def grid_stride(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int, programs: int) -> None:
    """As ``copy`` in at most ``programs`` programs. Raises ``ValueError`` as ``copy`` does."""
    require_vectors("copy", x, y)
    if y.numel():
        grid = (min(ceil_div(y.numel(), block), programs),)
        _copy_grid_stride[grid](x, y, y.numel(), BLOCK=block, num_warps=num_warps)


def tuned(x: torch.Tensor, y: torch.Tensor) -> None:
    """``copy`` as ``TUNED`` says for the size at hand. Raises ``ValueError`` as ``copy`` does."""
    block, num_warps = pick(TUNED, y.nbytes)
    copy(x, y, block=block, num_warps=num_warps)


def l2_persistent(x: torch.Tensor, y: torch.Tensor) -> None:
    """``tuned`` with ``y`` kept in L2 as far as it fits. Raises ``ValueError`` as ``copy`` does."""
    with persisting(y):
        tuned(x, y)
