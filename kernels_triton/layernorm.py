"""y = (x - mean) / sqrt(variance + eps) * weight + bias for each row of x. Rows are dense, any distance apart."""

import torch
import triton
import triton.language as tl

from kernels_triton import _rowwise as rowwise
from kernels_triton._blocks import eviction
from kernels_triton._launch import launch
from pytest_roofline.launch import ceil_div
from pytest_roofline.operands import row_extents
from pytest_roofline.remembered import remembered

BLOCK = 2048  # columns that a program of the looped kernels meets at once


@triton.jit
def _layernorm_mean(x_ptr, means_ptr, columns, x_row, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    columns = rowwise.extent(columns, WIDE)
    row = tl.program_id(0).to(tl.int64)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        sums += tl.load(x_ptr + row * x_row + column, mask=column < columns, other=0).to(tl.float32)
    tl.store(means_ptr + row, tl.sum(sums, axis=0) / columns)


@triton.jit
def _layernorm_variance(x_ptr, means_ptr, variances_ptr, columns, x_row, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    columns = rowwise.extent(columns, WIDE)
    row = tl.program_id(0).to(tl.int64)
    mean = tl.load(means_ptr + row)
    sums = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + column, mask=column < columns, other=0).to(tl.float32)
        deviation = tl.where(column < columns, x - mean, 0.0)
        sums += deviation
        squares += deviation * deviation
    lacking = tl.sum(sums, axis=0) / columns
    tl.store(means_ptr + row, mean + lacking)
    tl.store(variances_ptr + row, tl.maximum(tl.sum(squares, axis=0) / columns - lacking * lacking, 0.0))


@triton.jit
def _layernorm_scale(
    x_ptr,
    weight_ptr,
    bias_ptr,
    means_ptr,
    variances_ptr,
    y_ptr,
    columns,
    x_row,
    y_row,
    eps,
    BLOCK: tl.constexpr,
    WIDE: tl.constexpr,
):
    columns = rowwise.extent(columns, WIDE)
    across = tl.cdiv(columns, BLOCK)
    row = (tl.program_id(0) // across).to(tl.int64)
    column = tl.program_id(0) % across * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * x_row + column, mask=inside).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.load(variances_ptr + row) + eps)
    weight = tl.load(weight_ptr + column, mask=inside).to(tl.float32)
    bias = tl.load(bias_ptr + column, mask=inside).to(tl.float32)
    y = (x - tl.load(means_ptr + row)) * scale * weight + bias
    tl.store(y_ptr + row * y_row + column, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _layernorm_fused(
    x_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    rows,
    columns,
    x_row,
    y_row,
    eps,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    EVICTION: tl.constexpr,
):
    # A program reads its rows once and keeps them in registers until it has written them: the second look at a row,
    # for the variance of its deviations, costs no memory traffic. It keeps distances from the row's first element, so
    # that a large mean costs no digits. To sum up what the rounded mean lacks, as the unfused kernels do, made rows
    # of 16 bits 11 to 17 % slower (8192 x 8192 on an H200).
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * x_row + column, mask=inside, other=0, eviction_policy=EVICTION).to(tl.float32)
    first = tl.load(x_ptr + row * x_row, mask=row < rows, other=0).to(tl.float32)
    x = tl.where(column < columns, x - first, 0.0)
    mean = tl.sum(x, axis=1) / columns
    deviation = tl.where(column < columns, x - mean[:, None], 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(deviation * deviation, axis=1) / columns + eps)
    weight = tl.load(weight_ptr + column, mask=column < columns).to(tl.float32)
    bias = tl.load(bias_ptr + column, mask=column < columns).to(tl.float32)
    y = deviation * scale[:, None] * weight + bias
    tl.store(y_ptr + row * y_row + column, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _layernorm_fused_looped(
    x_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    columns,
    x_row,
    y_row,
    eps,
    BLOCK: tl.constexpr,
    WIDE: tl.constexpr,
):
    # The row is read twice, the second time backwards, so that what was read last is still in a cache. The first pass
    # updates mean and squared deviations per lane (Welford, 1962): sums of x and of x^2 would cancel where the mean is
    # large. All of it is relative to the row's first element, so that a large mean costs no digits either. A lane of
    # the last, partial block keeps what it has.
    columns = rowwise.extent(columns, WIDE)
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_row
    y_ptr += row * y_row
    origin = tl.load(x_ptr).to(tl.float32)
    lane = tl.arange(0, BLOCK)
    means = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + lane
        x = tl.load(x_ptr + column, mask=column < columns, other=0).to(tl.float32) - origin
        deviation = tl.where(column < columns, x - means, 0.0)
        means += deviation * (1.0 / (start // BLOCK + 1))
        squares += deviation * tl.where(column < columns, x - means, 0.0)
    counts = ((columns - lane + (BLOCK - 1)) // BLOCK).to(tl.float32)
    mean = tl.sum(means * counts, axis=0) / columns
    deviation = tl.where(counts > 0, means - mean, 0.0)
    variance = tl.sum(squares + counts * deviation * deviation, axis=0) / columns
    scale = 1.0 / tl.sqrt(variance + eps)
    last = (columns - 1) // BLOCK * BLOCK
    for back in range(0, columns, BLOCK):
        column = last - back + lane
        inside = column < columns
        x = tl.load(x_ptr + column, mask=inside).to(tl.float32) - origin
        weight = tl.load(weight_ptr + column, mask=inside).to(tl.float32)
        bias = tl.load(bias_ptr + column, mask=inside).to(tl.float32)
        y = (x - mean) * scale * weight + bias
        tl.store(y_ptr + column, y.to(y_ptr.dtype.element_ty), mask=inside)


def unfused(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    y: torch.Tensor,
    *,
    eps: float,
    block: int,
    means: torch.Tensor,
    variances: torch.Tensor,
) -> None:
    """Three kernels that each read ``x``; ``means`` and ``variances`` are workspace, one element per row.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight, bias, means=means, variances=variances)
    if x.numel():
        x_row, y_row = x.stride(0), y.stride(0)
        options = rowwise.looped(columns, block)
        _layernorm_mean[(rows,)](x, means, columns, x_row, **options)
        _layernorm_variance[(rows,)](x, means, variances, columns, x_row, **options)
        grid = (rows * ceil_div(columns, block),)
        _layernorm_scale[grid](x, weight, bias, means, variances, y, columns, x_row, y_row, eps, **options)


@remembered
def fused(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, y: torch.Tensor, *, eps: float) -> None:
    """One kernel that keeps rows in registers; rows that do not fit go through ``fused_looped``.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight, bias)
    plan = rowwise.plan(x, weights=2)
    if plan is None:
        return fused_looped(x, weight, bias, y, eps=eps, block=BLOCK, num_warps=8)
    if x.numel():
        tensors, layout = (x, weight, bias, y), (rows, columns, x.stride(0), y.stride(0))
        options = {"ROWS": plan.rows, "BLOCK": plan.block, "num_warps": plan.num_warps, "EVICTION": eviction(x)}
        launch(_layernorm_fused, plan.grid(rows), *tensors, *layout, eps, **options)


def fused_looped(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    y: torch.Tensor,
    *,
    eps: float,
    block: int,
    num_warps: int,
) -> None:
    """One program per row of any length, ``block`` columns at a time.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight, bias)
    if x.numel():
        layout = (columns, x.stride(0), y.stride(0))
        options = rowwise.looped(columns, block)
        _layernorm_fused_looped[(rows,)](x, weight, bias, y, *layout, eps, **options, num_warps=num_warps)
