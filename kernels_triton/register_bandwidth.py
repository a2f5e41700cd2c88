"""v = a v + b with all operands in registers: a program keeps one block of v, a and b."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div
from pytest_roofline.operands import require_vectors

WARPS = 8


@triton.jit
def _steps(x_ptr, a_ptr, b_ptr, n, steps, y_ptr, BLOCK: tl.constexpr, UNROLL: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    v = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    a = tl.load(a_ptr + offsets, mask=inside, other=0.0)
    b = tl.load(b_ptr + offsets, mask=inside, other=0.0)
    # Unrolled, so that the loop's own instructions do not take the place of multiply-adds.
    for _ in range(steps // UNROLL):
        for _ in tl.static_range(UNROLL):
            v = v * a + b
    for _ in range(steps % UNROLL):
        v = v * a + b
    tl.store(y_ptr + offsets, v, mask=inside)


def register_bandwidth(
    x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, y: torch.Tensor, *, steps: int, ilp: int
) -> None:
    """``y = x``, then ``y = a y + b`` ``steps`` times, ``ilp`` elements per thread.

    Raises ``ValueError`` unless all are dense vectors of one length.
    """
    require_vectors("register_bandwidth", x, a, b, y, dtype=torch.float32)
    block = 32 * WARPS * ilp
    if y.numel():
        grid = (ceil_div(y.numel(), block),)
        _steps[grid](x, a, b, y.numel(), steps, y, BLOCK=block, UNROLL=16, num_warps=WARPS)
