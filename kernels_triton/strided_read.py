"""y[i] = x[i, 0], one field of n records of f32."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div, require
from pytest_roofline.operands import require_dtype, require_matrices

FIELDS = 8  # of a record of 32 bytes


@triton.jit
def _strided_read(x_ptr, y_ptr, n, row, BLOCK: tl.constexpr):
    # From a stride of 8 elements on, every element fetches a sector of its own for the four bytes that are used.
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = rows < n
    tl.store(y_ptr + rows, tl.load(x_ptr + rows * row, mask=inside), mask=inside)


@triton.jit
def _strided_read_aos(x_ptr, y_ptr, n, BLOCK: tl.constexpr, FIELDS: tl.constexpr):
    # The stride of a record is known: the address is a shift instead of a product.
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = rows < n
    tl.store(y_ptr + rows, tl.load(x_ptr + rows * FIELDS, mask=inside), mask=inside)


@triton.jit
def _strided_read_soa(field_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # The values of one field are neighbours.
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = rows < n
    tl.store(y_ptr + rows, tl.load(field_ptr + rows, mask=inside), mask=inside)


def strided(x: torch.Tensor, y: torch.Tensor, *, block: int) -> None:
    """Rows any distance apart. Raises ``ValueError`` unless ``y`` is dense, with one element per row."""
    n = _rows(x, y)
    if n:
        _strided_read[(ceil_div(n, block),)](x, y, n, x.stride(0), BLOCK=block)


def aos(x: torch.Tensor, y: torch.Tensor, *, block: int) -> None:
    """Dense rows of 8. Raises ``ValueError`` for anything else."""
    n = _rows(x, y)
    require(x.shape[1] == FIELDS and x.is_contiguous(), f"strided_read/aos takes dense records of {FIELDS}")
    if n:
        _strided_read_aos[(ceil_div(n, block),)](x, y, n, BLOCK=block, FIELDS=FIELDS)


def soa(x: torch.Tensor, y: torch.Tensor, *, block: int) -> None:
    """Dense columns. Raises ``ValueError`` for anything else."""
    n = _rows(x, y)
    require(n < 2 or x.stride(0) == 1, "strided_read/soa takes dense columns")
    if n:
        _strided_read_soa[(ceil_div(n, block),)](x, y, n, BLOCK=block)


def _rows(x: torch.Tensor, y: torch.Tensor) -> int:
    require_matrices("strided_read", x)
    fits = x.shape[1] > 0 and y.shape == x.shape[:1] and y.is_contiguous()
    require(fits, "strided_read takes a dense vector with one element per row that is not empty")
    require_dtype("strided_read", torch.float32, x, y)
    return y.numel()
