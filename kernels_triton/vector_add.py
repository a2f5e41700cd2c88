"""y = x + y over dense vectors: one program adds one block."""

import torch
import triton
import triton.language as tl

from pytest_roofline.l2 import persisting
from pytest_roofline.launch import ceil_div, misalignment, require
from pytest_roofline.operands import require_vectors
from pytest_roofline.remembered import remembered

from ._blocks import PACK, best_block, block_start, eviction, launch_blocks


@triton.jit
def _add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # I/O: read x and y, write y. 64-bit offsets: program x BLOCK passes 2^31 on large GPUs.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(y_ptr + offsets, x + y, mask=inside)


@triton.jit
def _add_hinted(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # The offsets are promised to be contiguous and to start at a multiple of BLOCK. It buys wide accesses where the
    # compiler cannot see that itself; here it can, and what narrows them is the mask of a length not divisible by 16.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    offsets = tl.max_contiguous(tl.multiple_of(offsets, BLOCK), BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(y_ptr + offsets, x + y, mask=inside)


@triton.jit
def _add_unmasked(x_ptr, y_ptr, BLOCK: tl.constexpr):
    # No mask: saves a comparison per access, and admits only whole blocks.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(y_ptr + offsets, x + y)


@triton.jit
def _add_at(x_ptr, y_ptr, offsets, inside, EVICTION: tl.constexpr):
    x = tl.load(x_ptr + offsets, mask=inside, eviction_policy=EVICTION)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(y_ptr + offsets, x + y, mask=inside)


@triton.jit
def _add_vectorised(
    x_ptr, y_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr, WHOLE: tl.constexpr, EVICTION: tl.constexpr
):
    # Only a block that is cut off is masked: all others have wide accesses whatever the length.
    start = block_start(BLOCK, WIDE)
    offsets = start + tl.arange(0, BLOCK)
    if WHOLE or start + BLOCK <= n:
        _add_at(x_ptr, y_ptr, offsets, None, EVICTION)
    else:
        _add_at(x_ptr, y_ptr, offsets, offsets < n, EVICTION)


def vector_add(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """``y += x`` for dense vectors of one length. Raises ``ValueError`` for anything else."""
    require_vectors("vector_add", x, y)
    if y.numel():
        _add[(ceil_div(y.numel(), block),)](x, y, y.numel(), BLOCK=block, num_warps=num_warps)


def hinted(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """As ``vector_add``, with hints about the offsets. Raises ``ValueError`` as ``vector_add`` does."""
    require_vectors("vector_add", x, y)
    if y.numel():
        _add_hinted[(ceil_div(y.numel(), block),)](x, y, y.numel(), BLOCK=block, num_warps=num_warps)


def unmasked(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """Whole blocks from a 16-byte boundary on. Raises ``ValueError`` for anything else."""
    require_vectors("vector_add", x, y)
    whole = y.numel() % block == 0 and misalignment(x, PACK) == misalignment(y, PACK) == 0
    require(whole, f"vector_add/unmasked takes aligned vectors of a multiple of {block} elements")
    if y.numel():
        _add_unmasked[(y.numel() // block,)](x, y, BLOCK=block, num_warps=num_warps)


@remembered
def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """16 bytes per thread. Raises ``ValueError`` as ``vector_add`` does."""
    require_vectors("vector_add", x, y)
    block, num_warps = best_block(y)
    launch_blocks(_add_vectorised, x, y, block=block, num_warps=num_warps, EVICTION="")


@remembered
def evict_last(x: torch.Tensor, y: torch.Tensor) -> None:
    """``vectorised``; of long vectors, L2 evicts last what was read. Raises ``ValueError`` as ``vector_add`` does."""
    require_vectors("vector_add", x, y)
    block, num_warps = best_block(y)
    launch_blocks(_add_vectorised, x, y, block=block, num_warps=num_warps, EVICTION=eviction(x))


def l2_persistent(x: torch.Tensor, y: torch.Tensor) -> None:
    """``vectorised`` with ``y`` kept in L2 as far as it fits. Raises ``ValueError`` as ``vector_add`` does."""
    with persisting(y):
        vectorised(x, y)
