"""Sums over rows that stay in L2: one program per row, whose loads leave L1 out."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import require
from pytest_roofline.operands import require_dtype

ROW = 1024
SHIFT = 1607  # rows from one pass to the next


@triton.jit
def _rows(x_ptr, rows, shift, passes, y_ptr, ROW: tl.constexpr, UNROLL: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, ROW)
    total = tl.zeros((ROW,), dtype=tl.float32)
    # Unrolled, so that several loads are in flight; what is past the last pass is not loaded.
    for first in range(0, passes, UNROLL):
        for k in tl.static_range(UNROLL):
            pointers = x_ptr + row.to(tl.int64) * ROW + columns
            total += tl.load(pointers, mask=columns < (first + k < passes) * ROW, other=0.0, cache_modifier=".cg")
            row += tl.where(row + shift < rows, shift, shift - rows)
    tl.store(y_ptr + tl.program_id(0).to(tl.int64) * ROW + columns, total)


def block(x: torch.Tensor, y: torch.Tensor, *, passes: int) -> None:
    """``y[c] = x[c] + x[c + 1607] + ...``, ``passes`` terms, rows counted modulo their number.

    Raises ``ValueError`` unless both are dense with rows of 1024 elements.
    """
    dense = x.shape == y.shape and x.is_contiguous() and y.is_contiguous()
    require(dense and x.shape[1:] == (ROW,), f"l2_bandwidth takes dense rows of {ROW} elements")
    require_dtype("l2_bandwidth", torch.float32, x, y)
    rows = x.shape[0]
    if rows:
        _rows[(rows,)](x, rows, SHIFT % rows, passes, y, ROW=ROW, UNROLL=8, num_warps=8)
