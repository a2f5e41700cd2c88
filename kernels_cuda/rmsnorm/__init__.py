"""y = x / sqrt(mean of x^2 + eps) * weight for each row of x, in CUDA C++. Rows are dense, any
distance apart."""

from __future__ import annotations

from pathlib import Path

import torch

from kernels_cuda import _rowwise as rowwise
from pytest_roofline.launch import Source, c_type, ceil_div
from pytest_roofline.operands import row_extents
from pytest_roofline.remembered import remembered

# As the plans of all rows, but more threads where its single barrier lets them pay: 8192 columns took 130.7 in place of
# 133.4 us (f32), 67.7 in place of 68.1 (f16) and 67.9 in place of 68.1 (bf16), each pair in one process on an H200.
_MORE_THREADS = {4: {(512, 4): (1024, 2)}, 8: {(256, 4): (512, 2)}}
PLANS = {
    width: tuple(_MORE_THREADS.get(width, {}).get(plan, plan) for plan in plans)
    for width, plans in rowwise.PLANS.items()
}
LOOPED_WORDS = 4  # of a thread
UNFUSED_THREADS = 256

_HERE = Path(__file__).parent
UNFUSED = Source(_HERE / "unfused.cu")
FUSED = Source(_HERE / "fused.cu")
FUSED_LOOPED = Source(_HERE / "fused_looped.cu")


def unfused(x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, *, eps: float, squares: torch.Tensor) -> None:
    """Two kernels; ``squares`` is workspace, one element per row.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight, squares=squares)
    if not x.numel():
        return
    width, x_row, y_row = rowwise.layout(columns, x, y, weight)
    instance, block = f"<{c_type(x)}, {width}, {UNFUSED_THREADS}>", (UNFUSED_THREADS,)
    UNFUSED.function(f"rmsnorm_unfused_square{instance}")((rows,), block, (x, squares, columns, x_row))
    scale = UNFUSED.function(f"rmsnorm_unfused_scale{instance}")
    scale((rows,), block, (x, weight, squares, y, columns, x_row, y_row, eps))


@remembered
def fused(x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, *, eps: float) -> None:
    """One kernel that keeps a row in registers; rows that do not fit go through ``fused_looped``.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight)
    if not rows or not columns:
        return None
    width, x_row, y_row = rowwise.layout(columns, x, y, weight)
    chosen = rowwise.in_registers(
        FUSED, "rmsnorm_fused", c_type(x), columns, width, rowwise.evicts_last(x), PLANS[width]
    )
    if chosen is None:
        return fused_looped(x, weight, y, eps=eps)
    function, block, per_block = chosen
    function((ceil_div(rows, per_block),), block, (x, weight, y, rows, columns, x_row, y_row, eps))


def fused_looped(x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, *, eps: float) -> None:
    """One block per row of any length, which is read twice.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight)
    if not x.numel():
        return
    width, x_row, y_row = rowwise.layout(columns, x, y, weight)
    threads = rowwise.looped_threads(columns // width, LOOPED_WORDS)
    function = FUSED_LOOPED.function(f"rmsnorm_fused_looped<{c_type(x)}, {width}, {threads}>")
    function((rows,), (threads,), (x, weight, y, columns, x_row, y_row, eps))
