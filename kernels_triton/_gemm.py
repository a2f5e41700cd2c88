"""What the matrix products c[m, n] = a[m, k] b[k, n] share on the device: the order of tiles, sums over k, stores.

Rows, columns and k are counted in 32 bits, elements of a matrix in 64.
"""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import cuda


@triton.jit
def place(tile, down, across, GROUP: tl.constexpr):
    """Row and column of a tile among ``down`` x ``across``: ``GROUP`` rows of tiles are walked column by column, so
    that the tiles computed at one time share panels of a and of b in L2."""
    each = GROUP * across
    first = tile // each * GROUP
    height = tl.minimum(down - first, GROUP)
    return first + tile % each % height, tile % each // height


@triton.jit
def product(
    a_ptr, b_ptr, rows, columns, first, last, k, a_row, a_column, b_row, b_column, sums,
    BLOCK_K: tl.constexpr, WHOLE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """``sums`` plus the products of rows of a and columns of b over k from ``first`` to ``last``.

    The rows and columns must exist. Elements past ``k`` are zeros and add nothing; ``WHOLE`` promises that there are
    none in any block.
    """
    zero: tl.constexpr = 0.0 if sums.dtype.is_floating() else 0
    inner = tl.arange(0, BLOCK_K)
    at = first + inner.to(tl.int64)
    a = a_ptr + rows.to(tl.int64)[:, None] * a_row + at[None, :] * a_column
    b = b_ptr + at[:, None] * b_row + columns.to(tl.int64)[None, :] * b_column
    step = tl.full((), BLOCK_K, tl.int64)
    for start in range(first, last, BLOCK_K):
        if WHOLE:
            a_tile = tl.load(a)
            b_tile = tl.load(b)
        else:
            a_tile = tl.load(a, mask=inner[None, :] < k - start, other=zero)
            b_tile = tl.load(b, mask=inner[:, None] < k - start, other=zero)
        sums = tl.dot(a_tile, b_tile, sums, input_precision=PRECISION, out_dtype=sums.dtype)
        a += step * a_column
        b += step * b_row
    return sums


@triton.jit
def part(
    a, b, row, column, first, last, m, n, k, a_row, a_column, b_row, b_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, WHOLE: tl.constexpr,
    DESCRIBED: tl.constexpr, B_BY_COLUMNS: tl.constexpr, SUMS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """What k from ``first`` to ``last`` adds to tile (``row``, ``column``) of c, in the type ``SUMS``.

    ``a`` and ``b`` are pointers, or descriptors of blocks where they are ``DESCRIBED``: from Hopper on the tensor
    memory accelerator loads those, and fills with zeros what lies outside.
    """
    sums = tl.zeros((BLOCK_M, BLOCK_N), SUMS)
    if DESCRIBED:
        for start in range(first, last, BLOCK_K):
            a_tile = a.load([row * BLOCK_M, start])
            b_tile = b.load([column * BLOCK_N, start]).T if B_BY_COLUMNS else b.load([start, column * BLOCK_N])
            sums = tl.dot(a_tile, b_tile, sums, input_precision=PRECISION, out_dtype=SUMS)
    else:
        # Past the edge the first rows and columns are loaded again: cheaper than a mask, their sums are not stored.
        rows = (row * BLOCK_M + tl.arange(0, BLOCK_M)) % m
        columns = (column * BLOCK_N + tl.arange(0, BLOCK_N)) % n
        sums = product(
            a, b, rows, columns, first, last, k, a_row, a_column, b_row, b_column, sums, BLOCK_K, WHOLE, PRECISION
        )
    return sums


@triton.jit
def tiled(
    a, b, c_ptr, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    UNITS: tl.constexpr, WHOLE: tl.constexpr, DESCRIBED: tl.constexpr, B_BY_COLUMNS: tl.constexpr,
    SUMS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One tile of c per program."""
    n, k = n * UNITS[0], k * UNITS[1]
    a_row, b_row, b_column, c_row = a_row * UNITS[2], b_row * UNITS[3], b_column * UNITS[4], c_row * UNITS[5]
    row, column = place(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), GROUP)
    sums = part(
        a, b, row, column, 0, k, m, n, k, a_row, a_column, b_row, b_column,
        BLOCK_M, BLOCK_N, BLOCK_K, WHOLE, DESCRIBED, B_BY_COLUMNS, SUMS, PRECISION,
    )  # fmt: skip
    put(sums, row, column, None, c_ptr, m, n, c_row, c_column, BLOCK_M, BLOCK_N)


@triton.jit
def persistent(
    a_desc, b_desc, c_desc, c_ptr, m, n, k, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    B_BY_COLUMNS: tl.constexpr, PARTS: tl.constexpr, SUMS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Tiles of c a grid apart, their operands through descriptors.

    Flattened, both loops are one pipeline: the first operands of the next tile are loaded while this one is stored.
    """
    down, across = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    for tile in tl.range(tl.program_id(0), down * across, tl.num_programs(0), flatten=True):
        row, column = place(tile, down, across, GROUP)
        sums = tl.zeros((BLOCK_M, BLOCK_N), SUMS)
        for start in range(0, k, BLOCK_K):
            a_tile = a_desc.load([row * BLOCK_M, start])
            b_tile = (
                b_desc.load([column * BLOCK_N, start]).T if B_BY_COLUMNS else b_desc.load([start, column * BLOCK_N])
            )
            sums = tl.dot(a_tile, b_tile, sums, input_precision=PRECISION, out_dtype=SUMS)
        # In parts, so that less shared memory is needed on the way out and more is left for the operands.
        width: tl.constexpr = BLOCK_N // PARTS
        if PARTS == 1:
            put(sums, row, column, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, width)
        else:
            left, right = halves(sums, BLOCK_M, BLOCK_N // 2)
            put_parts(left, row, column * 2, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, BLOCK_N // 2, PARTS // 2)
            put_parts(
                right, row, column * 2 + 1, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, BLOCK_N // 2, PARTS // 2
            )


@triton.jit
def halves(tile, HEIGHT: tl.constexpr, WIDTH: tl.constexpr):
    """The left and the right half, ``WIDTH`` columns each."""
    return tl.split(tl.permute(tl.reshape(tile, (HEIGHT, 2, WIDTH)), (0, 2, 1)))


@triton.jit
def put_parts(
    sums, row, column, c_desc, c_ptr, m, n, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Store a tile in one or two parts."""
    if PARTS == 1:
        put(sums, row, column, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, BLOCK_N)
    else:
        left, right = halves(sums, BLOCK_M, BLOCK_N // 2)
        put(left, row, column * 2, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, BLOCK_N // 2)
        put(right, row, column * 2 + 1, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, BLOCK_N // 2)


@triton.jit
def put(sums, row, column, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Store a tile, through the descriptor where there is one."""
    if c_desc is not None:
        c_desc.store([row * BLOCK_M, column * BLOCK_N], sums.to(c_desc.dtype))
    else:
        rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
        columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
        c = c_ptr + rows.to(tl.int64)[:, None] * c_row + columns.to(tl.int64)[None, :] * c_column
        tl.store(c, sums.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def slot(partials_ptr, number, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Pointers to a dense tile of the workspace."""
    start = partials_ptr + number.to(tl.int64) * (BLOCK_M * BLOCK_N)
    return start + tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]


@triton.jit
def let_next_start(CHAINED: tl.constexpr):
    """Let the next kernel's programs take their places while this one's still run: programmatic dependent launch."""
    if CHAINED:
        cuda.gdc_launch_dependents()


@triton.jit
def wait_for_previous(CHAINED: tl.constexpr):
    """Wait until the kernel before has ended and its stores are seen."""
    if CHAINED:
        cuda.gdc_wait()
