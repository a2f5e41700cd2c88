"""Both directions by the programs of one kernel: even ones bring data up, odd ones down."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div
from pytest_roofline.operands import require_vectors

BLOCK = 4096  # bytes: 16 for each of 256 threads


@triton.jit
def _exchange(up_ptr, down_ptr, up_target_ptr, down_target_ptr, n, BLOCK: tl.constexpr):
    offsets = (tl.program_id(0) // 2).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    if tl.program_id(0) % 2 == 0:
        tl.store(up_target_ptr + offsets, tl.load(up_ptr + offsets, mask=inside), mask=inside)
    else:
        tl.store(down_target_ptr + offsets, tl.load(down_ptr + offsets, mask=inside), mask=inside)


def zero_copy(up: torch.Tensor, down: torch.Tensor, up_target: torch.Tensor, down_target: torch.Tensor) -> None:
    """``up_target = up`` and ``down_target = down``. Raises ``ValueError`` unless all are dense and of one length."""
    tensors = (up, down, up_target, down_target)
    require_vectors("exchange", *tensors)
    n = up.numel()
    if n:
        _exchange[(2 * ceil_div(n, BLOCK),)](*tensors, n, BLOCK=BLOCK, num_warps=8)
