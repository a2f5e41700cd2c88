"""A copy by programs, shared by the transfers between host and device."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div
from pytest_roofline.operands import require_vectors

BLOCK = 4096  # bytes: 16 for each of 256 threads


@triton.jit
def _copy(source_ptr, target_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(target_ptr + offsets, tl.load(source_ptr + offsets, mask=inside), mask=inside)


def copy(name: str, source: torch.Tensor, target: torch.Tensor) -> None:
    """``target = source``. Raises ``ValueError`` unless both are dense and of one length, ``TypeError`` unless of one
    element type."""
    require_vectors(name, source, target)
    if source.numel():
        _copy[(ceil_div(source.numel(), BLOCK),)](source, target, source.numel(), BLOCK=BLOCK, num_warps=8)
