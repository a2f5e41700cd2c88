"""y = x / sqrt(mean of x^2 + eps) * weight for each row of x. Rows are dense, any distance apart."""

import torch
import triton
import triton.language as tl

from kernels_triton import _rowwise as rowwise
from kernels_triton._blocks import eviction
from kernels_triton._launch import launch
from pytest_roofline.launch import ceil_div
from pytest_roofline.operands import row_extents
from pytest_roofline.remembered import remembered

BLOCK = 4096  # columns that a program of the looped kernels meets at once


@triton.jit
def _rmsnorm_square(x_ptr, squares_ptr, columns, x_row, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    columns = rowwise.extent(columns, WIDE)
    row = tl.program_id(0).to(tl.int64)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + column, mask=column < columns, other=0).to(tl.float32)
        sums += x * x
    tl.store(squares_ptr + row, tl.sum(sums, axis=0) / columns)


@triton.jit
def _rmsnorm_scale(
    x_ptr, weight_ptr, squares_ptr, y_ptr, columns, x_row, y_row, eps, BLOCK: tl.constexpr, WIDE: tl.constexpr
):
    columns = rowwise.extent(columns, WIDE)
    across = tl.cdiv(columns, BLOCK)
    row = (tl.program_id(0) // across).to(tl.int64)
    column = tl.program_id(0) % across * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * x_row + column, mask=inside).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.load(squares_ptr + row) + eps)
    y = x * scale * tl.load(weight_ptr + column, mask=inside).to(tl.float32)
    tl.store(y_ptr + row * y_row + column, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _rmsnorm_fused(
    x_ptr,
    weight_ptr,
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
    # A program reads its rows once and keeps them in registers until it has written them.
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * x_row + column, mask=inside, other=0, eviction_policy=EVICTION).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(x * x, axis=1) / columns + eps)
    weight = tl.load(weight_ptr + column, mask=column < columns).to(tl.float32)
    y = x * scale[:, None] * weight
    tl.store(y_ptr + row * y_row + column, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _rmsnorm_fused_looped(
    x_ptr, weight_ptr, y_ptr, columns, x_row, y_row, eps, BLOCK: tl.constexpr, WIDE: tl.constexpr
):
    # The row is read twice, the second time backwards, so that what was read last is still in a cache.
    columns = rowwise.extent(columns, WIDE)
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_row
    y_ptr += row * y_row
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + column, mask=column < columns, other=0).to(tl.float32)
        squares += x * x
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    last = (columns - 1) // BLOCK * BLOCK
    for back in range(0, columns, BLOCK):
        column = last - back + tl.arange(0, BLOCK)
        inside = column < columns
        x = tl.load(x_ptr + column, mask=inside).to(tl.float32)
        y = x * scale * tl.load(weight_ptr + column, mask=inside).to(tl.float32)
        tl.store(y_ptr + column, y.to(y_ptr.dtype.element_ty), mask=inside)


def unfused(
    x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, *, eps: float, block: int, squares: torch.Tensor
) -> None:
    """Two kernels that each read ``x``; ``squares`` is workspace, one element per row.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight, squares=squares)
    if x.numel():
        options = rowwise.looped(columns, block)
        _rmsnorm_square[(rows,)](x, squares, columns, x.stride(0), **options)
        grid = (rows * ceil_div(columns, block),)
        _rmsnorm_scale[grid](x, weight, squares, y, columns, x.stride(0), y.stride(0), eps, **options)


@remembered
def fused(x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, *, eps: float) -> None:
    """One kernel that keeps rows in registers; rows that do not fit go through ``fused_looped``.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight)
    plan = rowwise.plan(x, weights=1)
    if plan is None:
        return fused_looped(x, weight, y, eps=eps, block=BLOCK, num_warps=16)
    if x.numel():
        layout = (rows, columns, x.stride(0), y.stride(0))
        options = {"ROWS": plan.rows, "BLOCK": plan.block, "num_warps": plan.num_warps, "EVICTION": eviction(x)}
        launch(_rmsnorm_fused, plan.grid(rows), x, weight, y, *layout, eps, **options)


def fused_looped(
    x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, *, eps: float, block: int, num_warps: int
) -> None:
    """One program per row of any length, ``block`` columns at a time.

    Raises ``ValueError`` unless all tensors belong together and have dense rows.
    """
    rows, columns = row_extents(x, y, weight)
    if x.numel():
        layout = (columns, x.stride(0), y.stride(0))
        options = rowwise.looped(columns, block)
        _rmsnorm_fused_looped[(rows,)](x, weight, y, *layout, eps, **options, num_warps=num_warps)
