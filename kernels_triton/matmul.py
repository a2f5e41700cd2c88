"""c[m, n] = a[m, k] b[k, n] in f32 on the ordinary cores, for any strides."""

import torch
import triton
import triton.language as tl

from kernels_triton import _gemm as gemm
from pytest_roofline.launch import ceil_div


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
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    UNITS: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    gemm.tiled(
        a_ptr, b_ptr, c_ptr, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
        BLOCK_M, BLOCK_N, BLOCK_K, GROUP, UNITS, WHOLE, tl.float32, "ieee",
    )  # fmt: skip


def naive(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per ``block`` x ``block`` results. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, k = gemm.extents(a, b, c)
    if c.numel():
        grid = (ceil_div(m, block) * ceil_div(n, block),)
        _matmul_naive[grid](
            a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), BLOCK=block, num_warps=num_warps
        )  # fmt: skip


def tiled(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    *,
    block_m: int,
    block_n: int,
    block_k: int,
    group: int,
    num_warps: int,
    num_stages: int,
) -> None:
    """Tiles of ``block_m`` x ``block_n``, ``block_k`` deep, loaded ``num_stages`` - 1 steps ahead.

    ``group`` rows of tiles are computed together. Raises ``ValueError`` for shapes that do not multiply.
    """
    numbers, units = gemm.scaled(a, b, c)
    m, n, k = gemm.extents(a, b, c)
    if c.numel():
        grid = (ceil_div(m, block_m) * ceil_div(n, block_n),)
        _matmul_tiled[grid](
            a, b, c, *numbers, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP=group, UNITS=units,
            WHOLE=k % block_k == 0, num_warps=num_warps, num_stages=num_stages,
        )  # fmt: skip
