"""y = max(x + 1, 0) over dense vectors, as a pair of kernels with the sum in memory in between, and as one kernel."""

import torch
import triton
import triton.language as tl

from ._blocks import Table, launch_blocks, pick, require_vectors

TUNED: Table = ((None, 2048, 4),)


@triton.jit
def _rectified(x):
    # Not a maximum: a comparison with NaN is false, so that NaN stays.
    return tl.where(x <= 0, 0, x)


@triton.jit
def _add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    if start + BLOCK <= n:  # a mask that the compiler cannot prove constant over 16 bytes would split the accesses
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) + 1)
    else:
        inside = offsets < n
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside) + 1, mask=inside)


@triton.jit
def _relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    if start + BLOCK <= n:
        tl.store(y_ptr + offsets, _rectified(tl.load(x_ptr + offsets)))
    else:
        inside = offsets < n
        tl.store(y_ptr + offsets, _rectified(tl.load(x_ptr + offsets, mask=inside)), mask=inside)


@triton.jit
def _add_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # Fused, the sum stays in a register: half the traffic and one launch less.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    if start + BLOCK <= n:
        tl.store(y_ptr + offsets, _rectified(tl.load(x_ptr + offsets) + 1))
    else:
        inside = offsets < n
        tl.store(y_ptr + offsets, _rectified(tl.load(x_ptr + offsets, mask=inside) + 1), mask=inside)


def unfused(x: torch.Tensor, y: torch.Tensor, *, sums: torch.Tensor) -> None:
    """``sums = x + 1``, then ``y = relu(sums)``. Raises ``ValueError`` unless all are dense vectors of one length."""
    require_vectors("add_relu", x, y, sums)
    block, num_warps = pick(TUNED, y.nbytes)
    launch_blocks(_add_one, x, sums, block=block, num_warps=num_warps)
    launch_blocks(_relu, sums, y, block=block, num_warps=num_warps)


def add_relu(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """Fused, one program per ``block`` elements. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("add_relu", x, y)
    launch_blocks(_add_relu, x, y, block=block, num_warps=num_warps)


def fused(x: torch.Tensor, y: torch.Tensor) -> None:
    """``add_relu`` as ``TUNED`` says for the size at hand. Raises ``ValueError`` as ``add_relu`` does."""
    block, num_warps = pick(TUNED, y.nbytes)
    add_relu(x, y, block=block, num_warps=num_warps)
