"""y[n, m] = x[m, n] transposed, for any strides of both."""

import torch
import triton
import triton.language as tl

from kernels_triton._blocks import eviction
from kernels_triton._launch import launch
from pytest_roofline.launch import ceil_div, require
from pytest_roofline.operands import transpose_extents
from pytest_roofline.remembered import remembered

NARROW = 1 << 31  # what 32 bits count up to: places in memory, extents, programs of a launch


@triton.jit
def _transpose_naive(x_ptr, y_ptr, n, x_row, x_column, y_row, y_column, BLOCK: tl.constexpr):
    # A program reads part of a row and writes it as part of a column: neighbours end up a row of y apart.
    across = (n - 1) // BLOCK + 1  # tl.cdiv overflows just below 2^31
    row = (tl.program_id(0) // across).to(tl.int64)
    columns = (tl.program_id(0) % across).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + columns * x_column, mask=columns < n)
    tl.store(y_ptr + columns * y_row + row * y_column, x, mask=columns < n)


@triton.jit
def _transpose_tiled(
    x_ptr,
    y_ptr,
    m,
    n,
    x_row,
    x_column,
    y_row,
    y_column,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    WIDE: tl.constexpr,
    APART: tl.constexpr,
    EVICTION: tl.constexpr,
):
    # A program transposes a tile; the compiler takes it through shared memory, and both sides run along rows. Programs
    # that run at the same time are neighbours along a row of y: what is written together lies together. Only the tile's
    # place in memory is worked out in 64 bits, all of it where extents or strides are WIDE. APART, tiles inside of x
    # compare nothing: where each element has an access of its own, with a comparison and an address of 64 bits it took
    # 45 instructions.
    down = (m - 1) // ROWS + 1  # tl.cdiv overflows just below 2^31
    row = tl.program_id(0) % down
    column = tl.program_id(0) // down
    if WIDE:
        row = row.to(tl.int64)
        column = column.to(tl.int64)
    row *= ROWS
    column *= COLUMNS
    rows = tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    inside = (rows < m - row)[:, None] & (columns < n - column)[None, :]
    x_ptr += row.to(tl.int64) * x_row + column.to(tl.int64) * x_column
    y_ptr += column.to(tl.int64) * y_row + row.to(tl.int64) * y_column
    if WIDE:
        rows = rows.to(tl.int64)
        columns = columns.to(tl.int64)
    x = x_ptr + (rows[:, None] * x_row + columns[None, :] * x_column)
    y = y_ptr + (columns[:, None] * y_row + rows[None, :] * y_column)
    if APART and (m - row >= ROWS) & (n - column >= COLUMNS):
        tl.store(y, tl.trans(tl.load(x, eviction_policy=EVICTION)))
    else:
        tl.store(y, tl.trans(tl.load(x, mask=inside, eviction_policy=EVICTION)), mask=tl.trans(inside))


def _grid(programs: int) -> tuple[int]:
    require(programs < NARROW, f"{programs} programs; a launch has up to {NARROW - 1}")
    return (programs,)


def naive(x: torch.Tensor, y: torch.Tensor, *, block: int) -> None:
    """One program per ``block`` elements of a row.

    Raises ``ValueError`` unless ``y`` has the shape of ``x.T``, and for more than 2^31 - 1 programs, one per row at
    least.
    """
    m, n = transpose_extents(x, y)
    if x.numel():
        grid = _grid(m * ceil_div(n, block))
        _transpose_naive[grid](x, y, n, *x.stride(), *y.stride(), BLOCK=block)


@remembered
def tiled(x: torch.Tensor, y: torch.Tensor) -> None:
    """One program per tile.

    Raises ``ValueError`` unless ``y`` has the shape of ``x.T``, and for more than 2^31 - 1 tiles.
    """
    m, n = transpose_extents(x, y)
    if x.numel():
        strides = (*x.stride(), *y.stride())
        rows, columns, num_warps, apart = _tile(x, y)
        grid = _grid(ceil_div(m, rows) * ceil_div(n, columns))
        wide = max(strides) * (rows + columns) >= NARROW or max(m, n) > NARROW - max(rows, columns)
        options = {"ROWS": rows, "COLUMNS": columns, "WIDE": wide, "APART": apart, "num_warps": num_warps}
        options["EVICTION"] = "" if apart else eviction(x)
        launch(_transpose_tiled, grid, x, y, m, n, *strides, **options)


def _tile(x: torch.Tensor, y: torch.Tensor) -> tuple[int, int, int, bool]:
    """Rows and columns of x, warps, whether tiles inside compare nothing.

    The best on an H200 of five tiles at 8192 x 8192 and of sixteen at 4097 x 8191, where those of 16 bits took 47 in
    place of 59 us; the f32 tiles there took 74.6 us, and 79.7 with a comparison in all of them.
    """
    if all(t.stride(0) * t.element_size() % 16 == 0 for t in (x, y)):
        return (64, 64, 8, False) if x.element_size() == 4 else (128, 128, 16, False)
    return (128, 32, 4, True) if x.element_size() == 4 else (64, 32, 4, True)
