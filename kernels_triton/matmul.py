"""c[m, n] = a[m, k] b[k, n] in f32 on the ordinary cores, for any strides."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div, require


@triton.jit
def _matmul_naive(
    a_ptr, b_ptr, c_ptr, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column, BLOCK: tl.constexpr
):  # fmt: skip
    # Each step multiplies one column of a with one row of b, both straight from memory: nothing is kept for reuse.
    across = tl.cdiv(n, BLOCK)
    rows = (tl.program_id(0) // across).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    columns = (tl.program_id(0) % across).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    a = a_ptr + rows * a_row
    b = b_ptr + columns * b_column
    sums = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for _ in range(0, k):
        a_column_values = tl.load(a, mask=rows < m, other=0.0)
        b_row_values = tl.load(b, mask=columns < n, other=0.0)
        sums += a_column_values[:, None] * b_row_values[None, :]
        a += a_column
        b += b_row
    c = c_ptr + rows[:, None] * c_row + columns[None, :] * c_column
    tl.store(c, sums, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def _matmul_tiled(
    a_ptr, b_ptr, c_ptr, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    # A program computes a square tile of c from tiles of a and b; masked elements are zeros and add nothing.
    across = tl.cdiv(n, BLOCK)
    rows = (tl.program_id(0) // across).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    columns = (tl.program_id(0) % across).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK_K)
    a = a_ptr + rows[:, None] * a_row + inner[None, :] * a_column
    b = b_ptr + inner[:, None] * b_row + columns[None, :] * b_column
    sums = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        left = k - start
        a_tile = tl.load(a, mask=(rows[:, None] < m) & (inner[None, :] < left), other=0.0)
        b_tile = tl.load(b, mask=(inner[:, None] < left) & (columns[None, :] < n), other=0.0)
        sums = tl.dot(a_tile, b_tile, sums, input_precision="ieee")
        a += BLOCK_K * a_column
        b += BLOCK_K * b_row
    c = c_ptr + rows[:, None] * c_row + columns[None, :] * c_column
    tl.store(c, sums, mask=(rows[:, None] < m) & (columns[None, :] < n))


def naive(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per ``block`` x ``block`` results. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, k = _extents(a, b, c)
    if c.numel():
        grid = (ceil_div(m, block) * ceil_div(n, block),)
        _matmul_naive[grid](
            a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), BLOCK=block, num_warps=num_warps
        )  # fmt: skip


def tiled(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, block: int, block_k: int, num_warps: int, num_stages: int
) -> None:
    """Tiles of ``block`` x ``block``, ``block_k`` deep. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, k = _extents(a, b, c)
    if c.numel():
        grid = (ceil_div(m, block) * ceil_div(n, block),)
        _matmul_tiled[grid](
            a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(),
            BLOCK=block, BLOCK_K=block_k, num_warps=num_warps, num_stages=num_stages,
        )  # fmt: skip


def _extents(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[int, int, int]:
    (m, k), (_, n) = a.shape, b.shape
    fits = b.shape == (k, n) and c.shape == (m, n)
    require(fits, f"{tuple(a.shape)} times {tuple(b.shape)} is not {tuple(c.shape)}")
    return m, n, k
