"""y = softmax of each row of x. Rows are dense; the distance between them may be any."""

import torch
import triton
import triton.language as tl

from kernels_triton import _rowwise as rowwise
from kernels_triton._launch import launch
from pytest_roofline.launch import ceil_div
from pytest_roofline.operands import row_extents

BLOCK = 16384  # columns that a program meets at once where a row does not fit; the best of 2048 to 16384 on an H200


@triton.jit
def _shift(largest):
    # exp(-inf - -inf) is NaN: as long as all elements are -inf, they are held against 0 instead.
    return tl.where(largest == float("-inf"), 0.0, largest)


@triton.jit
def _softmax_max(x_ptr, maxima_ptr, columns, x_row, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + column, mask=column < columns, other=float("-inf"))
        largest = tl.maximum(largest, x.to(tl.float32))
    tl.store(maxima_ptr + row, tl.max(largest, axis=0))


@triton.jit
def _softmax_sum(x_ptr, maxima_ptr, sums_ptr, columns, x_row, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    largest = tl.load(maxima_ptr + row)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + column, mask=column < columns, other=float("-inf"))
        sums += tl.exp(x.to(tl.float32) - largest)
    tl.store(sums_ptr + row, tl.sum(sums, axis=0))


@triton.jit
def _softmax_scale(x_ptr, maxima_ptr, sums_ptr, y_ptr, columns, x_row, y_row, BLOCK: tl.constexpr):
    across = tl.cdiv(columns, BLOCK)
    row = (tl.program_id(0) // across).to(tl.int64)
    column = tl.program_id(0) % across * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + column, mask=column < columns).to(tl.float32)
    y = tl.exp(x - tl.load(maxima_ptr + row)) / tl.load(sums_ptr + row)
    tl.store(y_ptr + row * y_row + column, y.to(y_ptr.dtype.element_ty), mask=column < columns)


@triton.jit
def _softmax_fused(x_ptr, y_ptr, rows, columns, x_row, y_row, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    # A program reads its rows once and keeps them in registers until it has written them.
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * x_row + column, mask=inside, other=float("-inf"))
    x = x.to(tl.float32)
    exponentials = tl.exp(x - _shift(tl.max(x, axis=1))[:, None])
    y = exponentials * (1.0 / tl.sum(exponentials, axis=1))[:, None]
    tl.store(y_ptr + row * y_row + column, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _softmax_fused_looped(x_ptr, y_ptr, columns, x_row, y_row, BLOCK: tl.constexpr):
    # The row is read twice, the second time backwards, so that what was read last is still in a cache. Each lane keeps
    # a running maximum and rescales its sum when that grows (Milakov and Gimelshein, 2018); lanes meet once.
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_row
    y_ptr += row * y_row
    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + column, mask=column < columns, other=float("-inf"))
        x = x.to(tl.float32)
        larger = tl.maximum(largest, x)
        shift = _shift(larger)
        sums = sums * tl.exp(largest - shift) + tl.exp(x - shift)
        largest = larger
    shift = _shift(tl.max(largest, axis=0))
    scale = 1.0 / tl.sum(sums * tl.exp(largest - shift), axis=0)
    last = (columns - 1) // BLOCK * BLOCK
    for back in range(0, columns, BLOCK):
        column = last - back + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + column, mask=column < columns).to(tl.float32)
        y = tl.exp(x - shift) * scale
        tl.store(y_ptr + column, y.to(y_ptr.dtype.element_ty), mask=column < columns)


def unfused(x: torch.Tensor, y: torch.Tensor, *, block: int, maxima: torch.Tensor, sums: torch.Tensor) -> None:
    """Three kernels that each read ``x``; ``maxima`` and ``sums`` are workspace, one element per row.

    Raises ``ValueError`` unless ``y`` has the shape of ``x`` and both have dense rows.
    """
    rows, columns = row_extents(x, y)
    if x.numel():
        _softmax_max[(rows,)](x, maxima, columns, x.stride(0), BLOCK=block)
        _softmax_sum[(rows,)](x, maxima, sums, columns, x.stride(0), BLOCK=block)
        grid = (rows * ceil_div(columns, block),)
        _softmax_scale[grid](x, maxima, sums, y, columns, x.stride(0), y.stride(0), BLOCK=block)


def fused(x: torch.Tensor, y: torch.Tensor) -> None:
    """One kernel that keeps rows in registers; rows that do not fit go through ``fused_looped``.

    Raises ``ValueError`` unless ``y`` has the shape of ``x`` and both have dense rows.
    """
    rows, columns = row_extents(x, y)
    plan = rowwise.plan(x, weights=0)
    if plan is None:
        return fused_looped(x, y, block=BLOCK, num_warps=32)
    if x.numel():
        options = {"ROWS": plan.rows, "BLOCK": plan.block, "num_warps": plan.num_warps}
        launch(_softmax_fused, plan.grid(rows), x, y, rows, columns, x.stride(0), y.stride(0), **options)


def fused_looped(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per row of any length, ``block`` columns at a time.

    Raises ``ValueError`` unless ``y`` has the shape of ``x`` and both have dense rows.
    """
    rows, columns = row_extents(x, y)
    if x.numel():
        _softmax_fused_looped[(rows,)](x, y, columns, x.stride(0), y.stride(0), BLOCK=block, num_warps=num_warps)
