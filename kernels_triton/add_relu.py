"""y = max(x + 1, 0) over dense vectors, as a pair of kernels with the sum in memory in between, and as one kernel."""

import torch
import triton
import triton.language as tl

from pytest_roofline.operands import require_vectors
from pytest_roofline.remembered import remembered

from ._blocks import best_block, block_start, eviction, launch_blocks


@triton.jit
def _rectified(x):
    # Not a maximum: a comparison with NaN is false, so that NaN stays.
    return tl.where(x <= 0, 0, x)


@triton.jit
def _add_one_at(x_ptr, y_ptr, offsets, inside, EVICTION: tl.constexpr):
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside, eviction_policy=EVICTION) + 1, mask=inside)


@triton.jit
def _relu_at(x_ptr, y_ptr, offsets, inside, EVICTION: tl.constexpr):
    tl.store(y_ptr + offsets, _rectified(tl.load(x_ptr + offsets, mask=inside, eviction_policy=EVICTION)), mask=inside)


@triton.jit
def _add_relu_at(x_ptr, y_ptr, offsets, inside, EVICTION: tl.constexpr):
    # The sum stays in a register: half the traffic of the pair and one launch less.
    tl.store(
        y_ptr + offsets, _rectified(tl.load(x_ptr + offsets, mask=inside, eviction_policy=EVICTION) + 1), mask=inside
    )


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


@triton.jit
def _relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr, WHOLE: tl.constexpr, EVICTION: tl.constexpr):
    # I/O: read x, write y.
    # Only a block that is cut off is masked: a mask that is not constant over 16 bytes splits accesses.
    start = block_start(BLOCK, WIDE)
    offsets = start + tl.arange(0, BLOCK)
    if WHOLE or start + BLOCK <= n:
        _relu_at(x_ptr, y_ptr, offsets, None, EVICTION)
    else:
        _relu_at(x_ptr, y_ptr, offsets, offsets < n, EVICTION)


@triton.jit
def _add_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr, WHOLE: tl.constexpr, EVICTION: tl.constexpr):
    # I/O: read x, write y.
    # Only a block that is cut off is masked: a mask that is not constant over 16 bytes splits accesses.
    start = block_start(BLOCK, WIDE)
    offsets = start + tl.arange(0, BLOCK)
    if WHOLE or start + BLOCK <= n:
        _add_relu_at(x_ptr, y_ptr, offsets, None, EVICTION)
    else:
        _add_relu_at(x_ptr, y_ptr, offsets, offsets < n, EVICTION)


def unfused(x: torch.Tensor, y: torch.Tensor, *, sums: torch.Tensor) -> None:
    """``sums = x + 1``, then ``y = relu(sums)``. Raises ``ValueError`` unless all are dense vectors of one length."""
    require_vectors("add_relu", x, y, sums)
    block, num_warps = best_block(y)
    _pair(x, y, sums, block, num_warps)


def unfused_scalar(x: torch.Tensor, y: torch.Tensor, *, sums: torch.Tensor, block: int, num_warps: int) -> None:
    """``unfused``, one program per ``block`` elements. Raises ``ValueError`` as ``unfused`` does."""
    require_vectors("add_relu", x, y, sums)
    _pair(x, y, sums, block, num_warps)


def _pair(x: torch.Tensor, y: torch.Tensor, sums: torch.Tensor, block: int, num_warps: int) -> None:
    policy = eviction(x)
    launch_blocks(_add_one, x, sums, block=block, num_warps=num_warps, EVICTION=policy)
    launch_blocks(_relu, sums, y, block=block, num_warps=num_warps, EVICTION=policy)


def add_relu(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """Fused, one program per ``block`` elements. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("add_relu", x, y)
    launch_blocks(_add_relu, x, y, block=block, num_warps=num_warps, EVICTION=eviction(x))


@remembered
def fused(x: torch.Tensor, y: torch.Tensor) -> None:
    """Fused, 16 bytes per thread. Raises ``ValueError`` as ``add_relu`` does."""
    block, num_warps = best_block(y)
    add_relu(x, y, block=block, num_warps=num_warps)
