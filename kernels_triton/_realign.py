"""Copies of operands that tensor descriptors, or the instructions behind them, cannot take as they lie.

A descriptor needs rows that start at multiples of 16 bytes, ``wgmma`` needs operands of 32 and 8 bits along k, and the
ordinary cores read b by rows. The copy costs one pass over an operand; without it every tile that the operand is part
of pays for narrow or turned loads.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels_triton import _operands as operands
from pytest_roofline.launch import ceil_div, require

SIDE = 64  # of a block: whole cache lines on either side of a transposition
UNIT = 16  # elements that a row of a copy is a multiple of, in every format at least 16 bytes


@triton.jit
def _copy_block(
    x_ptr, y_ptr, number, rows, columns, x_row, x_column, y_row, SIDE: tl.constexpr, UNIT: tl.constexpr
):  # fmt: skip
    pitch = y_row * UNIT
    across = tl.cdiv(columns, SIDE)
    first_row, first_column = number // across * SIDE, number % across * SIDE
    row = (first_row + tl.arange(0, SIDE))[:, None]
    column = (first_column + tl.arange(0, SIDE))[None, :]
    x_ptr += row.to(tl.int64) * x_row + column.to(tl.int64) * x_column
    x = tl.load(x_ptr, mask=(row < rows) & (column < columns), other=0.0)
    # As a vector, so that loads and stores have layouts of their own: lanes side by side, and packs of 16 bytes.
    place = tl.arange(0, SIDE * SIDE)
    row, column = first_row + place // SIDE, first_column + place % SIDE
    y_ptr += row.to(tl.int64) * pitch + column
    tl.store(y_ptr, tl.reshape(x, (SIDE * SIDE,)), mask=(row < rows) & (column < pitch))


@triton.jit
def _realign(
    a_ptr, new_a_ptr, a_rows, a_columns, a_row, a_column, new_a_row, a_blocks,
    b_ptr, new_b_ptr, b_rows, b_columns, b_row, b_column, new_b_row,
    SIDE: tl.constexpr, UNIT: tl.constexpr,
):  # fmt: skip
    # new[row, column] = old[row, column]: blocks of a in the first programs, blocks of b in the others.
    number = tl.program_id(0)
    if number < a_blocks:
        _copy_block(a_ptr, new_a_ptr, number, a_rows, a_columns, a_row, a_column, new_a_row, SIDE, UNIT)
    else:
        number -= a_blocks
        _copy_block(b_ptr, new_b_ptr, number, b_rows, b_columns, b_row, b_column, new_b_row, SIDE, UNIT)


def realigned(
    a: torch.Tensor, b: torch.Tensor, packed: torch.Tensor, *, b_along_k: bool | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """a and b, where descriptors can describe them as they are, else copies of them in the workspace ``packed``.

    ``b_along_k`` asks for b by columns or, if false, by rows; by default it may lie either way. Raises ``ValueError``
    where the workspace is too small: it holds both copies, whose rows are multiples of ``UNIT`` elements.
    """
    along_k = (b.stride(0) == 1 and b.stride(1) != 1) if b_along_k is None else b_along_k
    turned_b = b.T if along_k else b
    moves_a, moves_b = not operands.describable(a), not operands.describable(turned_b)
    if not (moves_a or moves_b) or not (a.numel() and b.numel()):
        return a, b
    new_a, left = _placed(a, packed) if moves_a else (a, packed)
    new_b, _ = _placed(turned_b, left) if moves_b else (turned_b, left)
    a_blocks, b_blocks = (
        ceil_div(x.shape[0], SIDE) * ceil_div(x.shape[1], SIDE) if moves else 0
        for x, moves in ((a, moves_a), (turned_b, moves_b))
    )
    _realign[(a_blocks + b_blocks,)](
        a, new_a, *a.shape, *a.stride(), new_a.stride(0) // UNIT, a_blocks,
        turned_b, new_b, *turned_b.shape, *turned_b.stride(), new_b.stride(0) // UNIT, SIDE=SIDE, UNIT=UNIT,
    )  # fmt: skip
    new_a, new_b = new_a[:, : a.shape[1]], new_b[:, : turned_b.shape[1]]
    return new_a, new_b.T if along_k else new_b


def by_rows(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, packed: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A product with a and b by rows, as the ordinary cores want them: of ``a`` and ``b`` to ``c``, or its transpose.

    A b by columns lies well for c^T = b^T a^T, where a has to be turned instead: a if it is smaller.
    """
    if b.stride(0) == 1 and b.stride(1) != 1 and c.shape[0] < c.shape[1]:
        a, b, c = b.T, a.T, c.T
    return (*realigned(a, b, packed, b_along_k=False), c)


def _placed(x: torch.Tensor, packed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A place for a copy of ``x`` with rows of a multiple of ``UNIT``, and what is left behind it."""
    rows, columns = x.shape
    pitch = ceil_div(columns, UNIT) * UNIT
    require(rows * pitch <= packed.numel(), f"the workspace does not hold {rows} x {pitch} elements")
    return packed[: rows * pitch].view(rows, pitch), packed[rows * pitch :]
