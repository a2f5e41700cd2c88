"""y = x over dense vectors. The rungs differ in elements per thread: block / (32 * num_warps)."""

import torch
import triton
import triton.language as tl

from pytest_roofline.l2 import persisting
from pytest_roofline.launch import ceil_div
from pytest_roofline.operands import require_positive, require_vectors
from pytest_roofline.remembered import remembered

from ._blocks import PACK, best_block, block_start, eviction, launch_blocks


@triton.jit
def _copy_at(x_ptr, y_ptr, offsets, inside, EVICTION: tl.constexpr):
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside, eviction_policy=EVICTION), mask=inside)


@triton.jit
def _copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr, WHOLE: tl.constexpr, EVICTION: tl.constexpr):
    # I/O: read x, write y.
    # Only a block that is cut off is masked: a mask that is not constant over 16 bytes splits accesses.
    start = block_start(BLOCK, WIDE)
    offsets = start + tl.arange(0, BLOCK)
    if WHOLE or start + BLOCK <= n:
        _copy_at(x_ptr, y_ptr, offsets, None, EVICTION)
    else:
        _copy_at(x_ptr, y_ptr, offsets, offsets < n, EVICTION)


@triton.jit
def _copy_grid_stride(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # A program walks over blocks a grid apart instead of being replaced by the next one.
    first = tl.program_id(0).to(tl.int64) * BLOCK
    for start in range(first, n, tl.num_programs(0).to(tl.int64) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        if start + BLOCK <= n:
            _copy_at(x_ptr, y_ptr, offsets, None, "")
        else:
            _copy_at(x_ptr, y_ptr, offsets, offsets < n, "")


def copy(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per ``block`` elements. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("copy", x, y)
    launch_blocks(_copy, x, y, block=block, num_warps=num_warps, EVICTION="")


@remembered
def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """16 bytes per thread. Raises ``ValueError`` as ``copy`` does."""
    block, num_warps = best_block(y)
    copy(x, y, block=block, num_warps=num_warps)


def unrolled(x: torch.Tensor, y: torch.Tensor, *, unroll: int, num_warps: int) -> None:
    """``unroll`` packs of 16 bytes per thread. Raises ``ValueError`` as ``copy`` does."""
    copy(x, y, block=unroll * 32 * num_warps * PACK // y.element_size(), num_warps=num_warps)


@remembered
def evict_last(x: torch.Tensor, y: torch.Tensor) -> None:
    """``vectorised``; of long vectors, L2 evicts last what was read. Raises ``ValueError`` as ``copy`` does."""
    require_vectors("copy", x, y)
    block, num_warps = best_block(y)
    launch_blocks(_copy, x, y, block=block, num_warps=num_warps, EVICTION=eviction(y))


def grid_stride(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int, programs: int) -> None:
    """As ``copy`` in at most ``programs`` programs. Raises ``ValueError`` as ``copy`` does, and for no programs."""
    require_vectors("copy", x, y)
    require_positive("copy", "programs", programs)
    if y.numel():
        grid = (min(ceil_div(y.numel(), block), programs),)
        _copy_grid_stride[grid](x, y, y.numel(), BLOCK=block, num_warps=num_warps)


def l2_persistent(x: torch.Tensor, y: torch.Tensor) -> None:
    """``vectorised`` with ``y`` kept in L2 as far as it fits. Raises ``ValueError`` as ``copy`` does."""
    with persisting(y):
        vectorised(x, y)
