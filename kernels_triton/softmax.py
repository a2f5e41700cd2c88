"""y = softmax of each row of x. Rows are dense; the distance between them may be any."""

import torch
import triton
import triton.language as tl

from kernels_triton import _rowwise as rowwise
from kernels_triton._blocks import eviction
from kernels_triton._launch import launch
from pytest_roofline.launch import GpuNeeded, ceil_div, require
from pytest_roofline.operands import require_workspace, row_extents
from pytest_roofline.remembered import remembered

BLOCK = 16384  # columns that a program meets at once where a row does not fit; the best of 2048 to 16384 on an H200
# Columns and warps of a program that has a part of a row: 144 us, and 148 with twice as many (512 x 131072 f32 on an
# H200).
SPLIT_BLOCK, SPLIT_WARPS = 4096, 4
PAUSE = tl.constexpr("nanosleep.u32 40; mov.b32 $0, $1;")
MOST_PARTS = 64  # programs of a row; all must be resident at once, and every GPU since Volta has room for more


@triton.jit
def _shift(largest):
    # exp(-inf - -inf) is NaN: as long as all elements are -inf, they are held against 0 instead.
    return tl.where(largest == float("-inf"), 0.0, largest)


@triton.jit
def _softmax_max(x_ptr, maxima_ptr, columns, x_row, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    columns = rowwise.extent(columns, WIDE)
    row = tl.program_id(0).to(tl.int64)
    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + column, mask=column < columns, other=float("-inf"))
        largest = tl.maximum(largest, x.to(tl.float32))
    tl.store(maxima_ptr + row, tl.max(largest, axis=0))


@triton.jit
def _softmax_sum(x_ptr, maxima_ptr, sums_ptr, columns, x_row, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    columns = rowwise.extent(columns, WIDE)
    row = tl.program_id(0).to(tl.int64)
    largest = tl.load(maxima_ptr + row)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + column, mask=column < columns, other=float("-inf"))
        sums += tl.exp(x.to(tl.float32) - largest)
    tl.store(sums_ptr + row, tl.sum(sums, axis=0))


@triton.jit
def _softmax_scale(x_ptr, maxima_ptr, sums_ptr, y_ptr, columns, x_row, y_row, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    columns = rowwise.extent(columns, WIDE)
    across = tl.cdiv(columns, BLOCK)
    row = (tl.program_id(0) // across).to(tl.int64)
    column = tl.program_id(0) % across * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + column, mask=column < columns).to(tl.float32)
    y = tl.exp(x - tl.load(maxima_ptr + row)) / tl.load(sums_ptr + row)
    tl.store(y_ptr + row * y_row + column, y.to(y_ptr.dtype.element_ty), mask=column < columns)


@triton.jit
def _softmax_fused(
    x_ptr, y_ptr, rows, columns, x_row, y_row, ROWS: tl.constexpr, BLOCK: tl.constexpr, EVICTION: tl.constexpr
):
    # A program reads its rows once and keeps them in registers until it has written them.
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * x_row + column, mask=inside, other=float("-inf"), eviction_policy=EVICTION)
    x = x.to(tl.float32)
    exponentials = tl.exp(x - _shift(tl.max(x, axis=1))[:, None])
    y = exponentials * (1.0 / tl.sum(exponentials, axis=1))[:, None]
    tl.store(y_ptr + row * y_row + column, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _softmax_fused_looped(x_ptr, y_ptr, columns, x_row, y_row, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    # The row is read twice, the second time backwards, so that what was read last is still in a cache. Each lane keeps
    # a running maximum and rescales its sum when that grows (Milakov and Gimelshein, 2018); lanes meet once.
    columns = rowwise.extent(columns, WIDE)
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


@triton.jit
def _softmax_fused_split(
    x_ptr,
    y_ptr,
    shares_ptr,
    rows,
    columns,
    x_row,
    y_row,
    PARTS: tl.constexpr,
    BLOCK: tl.constexpr,
    EVICTION: tl.constexpr,
):
    # PARTS programs share a row and keep it in registers. Each writes what it found, its largest element and its sum of
    # exponentials, into one word of 64 bits, and waits until no word of the row is zero: no program finds zero, because
    # the sum is at least one, or else the largest element is -inf. It takes its place from a counter rather than from
    # its number: all places before it are then taken by programs that run, and nobody waits for one that cannot start.
    place = tl.atomic_add(shares_ptr + rows * PARTS, 1, sem="relaxed").to(tl.int32)
    row = (place // PARTS).to(tl.int64)
    part = place % PARTS
    column = part * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * x_row + column, mask=inside, other=float("-inf"), eviction_policy=EVICTION).to(tl.float32)
    largest = tl.max(x, axis=0)
    exponentials = tl.exp(x - _shift(largest))
    high = largest.to(tl.int32, bitcast=True).to(tl.int64) << 32
    low = tl.sum(exponentials, axis=0).to(tl.uint32, bitcast=True).to(tl.int64)
    shares_ptr += row * PARTS
    tl.atomic_xchg(shares_ptr + part, high | low, sem="relaxed")
    parts = tl.arange(0, PARTS)
    shares = tl.load(shares_ptr + parts, volatile=True)
    while tl.min((shares != 0).to(tl.int32), axis=0) == 0:
        # Who asks without a pause keeps L2 from those that are waited for: 144.1 in place of 141.5 us.
        parts = tl.inline_asm_elementwise(PAUSE, "=r,r", [parts], dtype=tl.int32, is_pure=False, pack=1)
        shares = tl.load(shares_ptr + parts, volatile=True)
    maxima = (shares >> 32).to(tl.int32).to(tl.float32, bitcast=True)
    sums = shares.to(tl.int32).to(tl.float32, bitcast=True)
    shift = _shift(tl.max(maxima, axis=0))
    total = tl.sum(sums * tl.exp(maxima - shift), axis=0)
    y = exponentials * (tl.exp(largest - shift) / total)
    tl.store(y_ptr + row * y_row + column, y.to(y_ptr.dtype.element_ty), mask=inside)


def unfused(x: torch.Tensor, y: torch.Tensor, *, block: int, maxima: torch.Tensor, sums: torch.Tensor) -> None:
    """Three kernels that each read ``x``; ``maxima`` and ``sums`` are workspace, one element per row.

    Raises ``ValueError`` unless ``y`` has the shape of ``x`` and both have dense rows.
    """
    rows, columns = row_extents(x, y, maxima=maxima, sums=sums)
    if x.numel():
        options = rowwise.looped(columns, block)
        _softmax_max[(rows,)](x, maxima, columns, x.stride(0), **options)
        _softmax_sum[(rows,)](x, maxima, sums, columns, x.stride(0), **options)
        grid = (rows * ceil_div(columns, block),)
        _softmax_scale[grid](x, maxima, sums, y, columns, x.stride(0), y.stride(0), **options)


def fused(x: torch.Tensor, y: torch.Tensor, *, shares: torch.Tensor | None = None) -> None:
    """One kernel that keeps rows in registers; rows that do not fit go through ``fused_split``.

    That meets in the workspace ``shares``. Rows that are too long for it, and long ones without a workspace or on a
    CPU, where programs run one after the other, go through ``fused_looped``.

    Raises ``ValueError`` unless ``y`` has the shape of ``x`` and both have dense rows.
    """
    _, columns = row_extents(x, y)
    plan = rowwise.plan(x, weights=0)
    if plan is None:
        if shares is None or not x.is_cuda or parts(columns) > MOST_PARTS:
            return fused_looped(x, y, block=BLOCK, num_warps=32)
        return fused_split(x, y, shares=shares)
    if x.numel():
        _fused(x, y)


@remembered
def _fused(x: torch.Tensor, y: torch.Tensor) -> None:  # without fused_split, which clears memory as well
    rows, columns = x.shape
    plan = rowwise.plan(x, weights=0)
    if plan is not None:
        options = {"ROWS": plan.rows, "BLOCK": plan.block, "num_warps": plan.num_warps, "EVICTION": eviction(x)}
        launch(_softmax_fused, plan.grid(rows), x, y, rows, columns, x.stride(0), y.stride(0), **options)


def parts(columns: int) -> int:
    """Programs that share a row."""
    return int(triton.next_power_of_2(max(1, ceil_div(columns, SPLIT_BLOCK))))


def fused_split(x: torch.Tensor, y: torch.Tensor, *, shares: torch.Tensor) -> None:
    """Several programs per row, read once; they meet in ``shares``, ``parts(columns)`` words of 64 bits per row
    and one more.

    Raises ``ValueError`` unless ``y`` has the shape of ``x``, both have dense rows of at most 262144 elements; and
    ``GpuNeeded`` in the interpreter, where programs run one after the other.
    """
    rows, columns = row_extents(x, y)
    count = parts(columns)
    require(not x.numel() or count <= MOST_PARTS, f"up to {MOST_PARTS} programs of {SPLIT_BLOCK} elements share a row")
    require_workspace("shares", shares, rows * count + 1, torch.int64)
    if triton.knobs.runtime.interpret:
        raise GpuNeeded("programs that wait for each other must run at the same time")
    if x.numel():
        options = {"PARTS": count, "BLOCK": SPLIT_BLOCK, "num_warps": SPLIT_WARPS, "EVICTION": eviction(x)}
        shares.zero_()
        launch(_softmax_fused_split, (rows * count,), x, y, shares, rows, columns, x.stride(0), y.stride(0), **options)


def fused_looped(x: torch.Tensor, y: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per row of any length, ``block`` columns at a time.

    Raises ``ValueError`` unless ``y`` has the shape of ``x`` and both have dense rows.
    """
    rows, columns = row_extents(x, y)
    if x.numel():
        options = rowwise.looped(columns, block)
        _softmax_fused_looped[(rows,)](x, y, columns, x.stride(0), y.stride(0), **options, num_warps=num_warps)
