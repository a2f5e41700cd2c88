"""A copy by programs, shared by the transfers between host and device."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div, require

BLOCK = 4096  # bytes: 16 for each of 256 threads


@triton.jit
def _copy(source_ptr, target_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(target_ptr + offsets, tl.load(source_ptr + offsets, mask=inside), mask=inside)


def copy(name: str, source: torch.Tensor, target: torch.Tensor) -> None:
    """``target = source``. Raises ``ValueError`` unless both are dense and of one length."""
    dense = source.is_contiguous() and target.is_contiguous()
    require(dense and source.shape == target.shape, f"{name} takes two dense equal vectors")
    if source.numel():
        _copy[(ceil_div(source.numel(), BLOCK),)](source, target, source.numel(), BLOCK=BLOCK, num_warps=8)
