"""c = a * b + c over dense vectors. The rungs differ in elements per thread: block / (32 * num_warps)."""

import torch
import triton
import triton.language as tl

from pytest_roofline.operands import require_vectors
from pytest_roofline.remembered import remembered

from ._blocks import best_block, block_start, eviction, launch_blocks


@triton.jit
def _fma_at(a_ptr, b_ptr, c_ptr, offsets, inside, EVICTION: tl.constexpr):
    a = tl.load(a_ptr + offsets, mask=inside, eviction_policy=EVICTION)
    b = tl.load(b_ptr + offsets, mask=inside, eviction_policy=EVICTION)
    c = tl.load(c_ptr + offsets, mask=inside)
    tl.store(c_ptr + offsets, tl.fma(a, b, c), mask=inside)


@triton.jit
def _fma(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr, WHOLE: tl.constexpr, EVICTION: tl.constexpr):
    # I/O: read a, b and c, write c.
    # Only a block that is cut off is masked: a mask that is not constant over 16 bytes splits accesses.
    start = block_start(BLOCK, WIDE)
    offsets = start + tl.arange(0, BLOCK)
    if WHOLE or start + BLOCK <= n:
        _fma_at(a_ptr, b_ptr, c_ptr, offsets, None, EVICTION)
    else:
        _fma_at(a_ptr, b_ptr, c_ptr, offsets, offsets < n, EVICTION)


def fma(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per ``block`` elements. Raises ``ValueError`` unless all are dense vectors of one length."""
    require_vectors("fma", a, b, c)
    launch_blocks(_fma, a, b, c, block=block, num_warps=num_warps, EVICTION="")


@remembered
def vectorised(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """16 bytes per thread. Raises ``ValueError`` as ``fma`` does."""
    block, num_warps = best_block(c)
    fma(a, b, c, block=block, num_warps=num_warps)


@remembered
def evict_last(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """``vectorised``; of long vectors, L2 evicts last what was read. Raises ``ValueError`` as ``fma`` does."""
    require_vectors("fma", a, b, c)
    block, num_warps = best_block(c)
    launch_blocks(_fma, a, b, c, block=block, num_warps=num_warps, EVICTION=eviction(c, 3))
