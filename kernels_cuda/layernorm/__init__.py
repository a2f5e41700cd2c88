"""y = (x - mean) / sqrt(variance + eps) * weight + bias for each row of x, in CUDA C++. Rows are dense, any distance
apart."""

from __future__ import annotations

from pathlib import Path

import torch

from kernels_cuda import _rowwise as rowwise
from pytest_roofline.launch import Source, c_type, ceil_div
from pytest_roofline.operands import row_extents
from pytest_roofline.remembered import remembered

LOOPED_WORDS = 8  # of a thread
UNFUSED_THREADS = 256

_HERE = Path(__file__).parent
UNFUSED = Source(_HERE / "unfused.cu")
FUSED = Source(_HERE / "fused.cu")
FUSED_LOOPED = Source(_HERE / "fused_looped.cu")


def unfused(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    y: torch.Tensor,
    *,
    eps: float,
    means: torch.Tensor,
    variances: torch.Tensor,
) -> None:
    """Three kernels; ``means`` and ``variances`` are workspace, one element per row.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight, bias, means=means, variances=variances)
    if not x.numel():
        return
    width, x_row, y_row = rowwise.layout(columns, x, y, weight, bias)
    instance, block = f"<{c_type(x)}, {width}, {UNFUSED_THREADS}>", (UNFUSED_THREADS,)
    UNFUSED.function(f"layernorm_unfused_mean{instance}")((rows,), block, (x, means, columns, x_row))
    variance = UNFUSED.function(f"layernorm_unfused_variance{instance}")
    variance((rows,), block, (x, means, variances, columns, x_row))
    scale = UNFUSED.function(f"layernorm_unfused_scale{instance}")
    scale((rows,), block, (x, weight, bias, means, variances, y, columns, x_row, y_row, eps))


@remembered
def fused(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, y: torch.Tensor, *, eps: float) -> None:
    """One kernel that keeps a row in registers; rows that do not fit go through ``fused_looped``.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight, bias)
    if not rows or not columns:
        return None
    width, x_row, y_row = rowwise.layout(columns, x, y, weight, bias)
    chosen = rowwise.in_registers(FUSED, "layernorm_fused", c_type(x), columns, width, rowwise.evicts_last(x))
    if chosen is None:
        return fused_looped(x, weight, bias, y, eps=eps)
    function, block, per_block = chosen
    function((ceil_div(rows, per_block),), block, (x, weight, bias, y, rows, columns, x_row, y_row, eps))


def fused_looped(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, y: torch.Tensor, *, eps: float) -> None:
    """One block per row of any length, which is read twice.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight, bias)
    if not x.numel():
        return
    width, x_row, y_row = rowwise.layout(columns, x, y, weight, bias)
    threads = rowwise.looped_threads(columns // width, LOOPED_WORDS)
    function = FUSED_LOOPED.function(f"layernorm_fused_looped<{c_type(x)}, {width}, {threads}>")
    function((rows,), (threads,), (x, weight, bias, y, columns, x_row, y_row, eps))
