"""c[m, n] = a[m, k] b[k, n] in f32 on the ordinary cores, for any strides."""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from kernels_triton import _gemm as gemm
from kernels_triton import _operands as operands
from kernels_triton._realign import by_rows
from pytest_roofline.launch import ceil_div
from pytest_roofline.operands import matmul_extents


class Tile(NamedTuple):
    """What a program computes at once, and how; ``weight`` is the time per result, relative to the others."""

    block_m: int
    block_n: int
    block_k: int
    num_warps: int
    num_stages: int
    weight: float = 1.0

    def count(self, m: int, n: int) -> int:
        """Tiles that cover m x n results."""
        return ceil_div(m, self.block_m) * ceil_div(n, self.block_n)

    def cost(self, m: int, n: int, sms: int) -> float:
        """What the busiest SM has to do, if it always holds three programs."""
        return ceil_div(self.count(m, n), 3 * sms) * self.block_m * self.block_n * self.weight


# From a sweep over 40 tiles at 4096^3 on an H200: 45.4 TFLOP/s, where 128 x 256 results per program, which need fewer
# loads, gave 43.0. Three programs of the small tile share an SM, so that one computes while another waits at a barrier.
TILES = (Tile(64, 64, 32, 4, 3), Tile(32, 64, 32, 2, 3, 1.03))
GROUP = 8


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
    a, b, c_ptr, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    UNITS: tl.constexpr, WHOLE: tl.constexpr, DESCRIBED: tl.constexpr, B_BY_COLUMNS: tl.constexpr,
):  # fmt: skip
    # "ieee" keeps f32 off the tensor cores. A thread gets 4 x 4 results, repeated over the tile.
    gemm.tiled(
        a, b, c_ptr, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
        BLOCK_M, BLOCK_N, BLOCK_K, GROUP, UNITS, WHOLE, DESCRIBED, B_BY_COLUMNS, tl.float32, "ieee",
    )  # fmt: skip


def naive(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per ``block`` x ``block`` results. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, k = operands.extents(a, b, c)
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
    _launch(a, b, c, Tile(block_m, block_n, block_k, num_warps, num_stages), group, described=False)


def tuned(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, packed: torch.Tensor) -> None:
    """The tile that keeps the busiest SM least busy. Raises ``ValueError`` for shapes that do not multiply.

    Operands that are not aligned, or not by rows, are first copied to the workspace ``packed``.
    """
    matmul_extents(a, b, c)
    if c.numel():
        a, b, c = by_rows(a, b, c, packed)
        sms, described = operands.multiprocessors(a), operands.described(a, b)
        tile = min(TILES, key=lambda tile: tile.cost(*c.shape, sms))
        _launch(a, b, c, tile, GROUP, described=described)


def _launch(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, tile: Tile, group: int, *, described: bool) -> None:
    m, n, k = matmul_extents(a, b, c)
    if c.numel():
        numbers, units = operands.scaled(a, b, c)
        left, right = operands.for_kernel(a, b, tile.block_m, tile.block_n, tile.block_k, described)
        _matmul_tiled[(tile.count(m, n),)](
            left, right, c, *numbers, BLOCK_M=tile.block_m, BLOCK_N=tile.block_n, BLOCK_K=tile.block_k, GROUP=group,
            UNITS=units, WHOLE=k % tile.block_k == 0, DESCRIBED=described, B_BY_COLUMNS=b.stride(0) == 1,
            num_warps=tile.num_warps, num_stages=tile.num_stages,
        )  # fmt: skip
