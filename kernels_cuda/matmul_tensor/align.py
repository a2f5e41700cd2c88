"""Copies of matrices that Hopper's copy engine, or the instructions behind it, cannot take as they lie.

The copy engine wants dense rows that begin at multiples of 16 bytes, and ``wgmma`` wants operands of 32 and 8 bits
along k. A copy costs a pass over the matrix; without it, every tile that the matrix is part of pays for narrow loads.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import torch

from pytest_roofline.launch import Source, c_type, ceil_div, require
from pytest_roofline.tensor_map import refusal, store_refusal

ALIGN = Source(Path(__file__).with_name("automatic.cu"))
SIDE, THREADS, CHUNK = 64, 256, 16  # as in automatic.cu: of a block, and bytes of a thread's accesses
UNIT = 16  # elements that a row of a copy is a multiple of, in every format at least 16 bytes


class Place(NamedTuple):
    """Where a matrix may lie, and whether what it holds has to be moved there."""

    matrix: torch.Tensor
    moves: bool


def operands(a: torch.Tensor, b: torch.Tensor, packed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """a and b as the copy engine takes them, or copies of them in ``packed``; and what is left of it.

    Raises ``ValueError`` where ``packed`` is too small.
    """
    columns = lies_along_k(b)
    first, packed = place(a, packed)
    second, packed = place(b.T if columns else b, packed)
    move((a, first), (b.T if columns else b, second))
    return first.matrix, second.matrix.T if columns else second.matrix, packed


def copied(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> int:
    """Elements of the matrices that have to be copied."""
    moved = [x.numel() for x in (a, b.T if lies_along_k(b) else b) if _refused(x)]
    return sum(moved) + (c.numel() if _refused(c, stored=True) else 0)


def lies_along_k(b: torch.Tensor) -> bool:
    """Whether the columns of b are to be dense: because they are, or because ``wgmma`` takes its format only so."""
    return b.element_size() != 2 or (b.stride(0) == 1 and b.stride(1) != 1)


def place(matrix: torch.Tensor, packed: torch.Tensor, *, stored: bool = False) -> tuple[Place, torch.Tensor]:
    """A matrix where it lies, if the copy engine reads it there or, with ``stored``, writes it, else a place in
    ``packed``; and what is left of it.

    Raises ``ValueError`` where ``packed`` is too small.
    """
    rows, columns = matrix.shape
    if not _refused(matrix, stored=stored):
        return Place(matrix, False), packed
    pitch = ceil_div(columns, UNIT) * UNIT
    size = rows * pitch * matrix.element_size() // packed.element_size()
    require(size <= packed.numel(), f"the workspace does not hold a copy of {rows} x {pitch} elements")
    return Place(packed[:size].view(matrix.dtype).view(rows, pitch)[:, :columns], True), packed[size:]


def move(*pairs: tuple[torch.Tensor, Place]) -> None:
    """Copy the one or two matrices to their places, whose rows are dense, as far as they have to move: one launch, or
    none."""
    values, blocks = [], []
    for matrix, to in pairs:
        rows, columns = matrix.shape
        x, y = _bytes(matrix), _bytes(to.matrix)
        across = ceil_div(columns + CHUNK // matrix.element_size() - 1, SIDE)
        blocks.append(ceil_div(rows, SIDE) * across if to.moves else 0)
        values.append((x, y, rows, columns, *x.stride(), y.stride(0)))
    if len(pairs) == 1:
        values, blocks = values * 2, [*blocks, 0]
    function = ALIGN.function(f"matmul_tensor_align<{c_type(values[0][0])}>")
    function((sum(blocks),), (THREADS,), (*values[0], blocks[0], *values[1]))


def put_back(found: torch.Tensor, c: torch.Tensor) -> None:
    """Copy results from the place where the copy engine left them to c, which may have any strides: one launch."""
    rows, columns = c.shape
    if c.stride(1) == 1 or columns == 1:
        move((found, Place(c, True)))
        return
    function = ALIGN.function(f"matmul_tensor_spread<{c_type(c)}>")
    function((ceil_div(c.numel(), THREADS),), (THREADS,), (found, c, rows, columns, found.stride(0), *c.stride()))


def _refused(matrix: torch.Tensor, *, stored: bool = False) -> bool:
    reason = store_refusal if stored else refusal
    return bool(reason(matrix.data_ptr(), matrix.element_size(), matrix.shape[1], matrix.stride()))


def _bytes(matrix: torch.Tensor) -> torch.Tensor:
    """fp8 as plain bytes: it has no name in C++ without a header of its own."""
    return matrix.view(torch.int8) if matrix.dtype is torch.float8_e4m3fn else matrix
