"""y = x + 1 over dense vectors. The rungs differ in elements per thread: block / (32 * num_warps)."""

import torch
import triton
import triton.language as tl

from pytest_roofline.operands import require_vectors
from pytest_roofline.remembered import remembered

from ._blocks import best_block, block_start, eviction, launch_blocks


@triton.jit
def _add_one_at(x_ptr, y_ptr, offsets, inside, EVICTION: tl.constexpr):
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside, eviction_policy=EVICTION) + 1, mask=inside)


@triton.jit
def _add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr, WHOLE: tl.constexpr, EVICTION: tl.constexpr):
    # I/O: read x, write y.
    # Only a block that is cut off is masked: a mask that is not constant over 16 bytes splits accesses.
    start = block_start(BLOCK, WIDE)
    offsets = start + tl.arange(0, BLOCK)
    if WHOLE or start + BLOCK <= n:
        _add_one_at(x_ptr, y_ptr, offsets, None, EVICTION)
    else:
        _add_one_at(x_ptr, y_ptr, offsets, offsets < n, EVICTION)


def add_one(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per ``block`` elements. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("add_one", x, y)
    launch_blocks(_add_one, x, y, block=block, num_warps=num_warps, EVICTION="")


@remembered
def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """16 bytes per thread. Raises ``ValueError`` as ``add_one`` does."""
    block, num_warps = best_block(y)
    add_one(x, y, block=block, num_warps=num_warps)


@remembered
def evict_last(x: torch.Tensor, y: torch.Tensor) -> None:
    """``vectorised``; of long vectors, L2 evicts last what was read. Raises ``ValueError`` as ``add_one`` does."""
    require_vectors("add_one", x, y)
    block, num_warps = best_block(y)
    launch_blocks(_add_one, x, y, block=block, num_warps=num_warps, EVICTION=eviction(y))
