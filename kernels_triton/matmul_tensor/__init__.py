"""c[m, n] = a[m, k] b[k, n] on the tensor cores, for any strides.

A ``tl.dot`` becomes ``mma.sync`` before Hopper and ``wgmma`` from there on; operands of 32 and 8 bits have to lie along
k for ``wgmma``, others are turned around on their way through registers.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from kernels_triton import _gemm as gemm
from kernels_triton import _operands as operands
from kernels_triton._realign import realigned
from pytest_roofline.launch import ceil_div
from pytest_roofline.operands import matmul_extents


@triton.jit
def _matmul_tensor_tiled(
    a_ptr, b_ptr, c_ptr, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    UNITS: tl.constexpr, WHOLE: tl.constexpr, SUMS: tl.constexpr,
):  # fmt: skip
    gemm.tiled(
        a_ptr, b_ptr, c_ptr, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
        BLOCK_M, BLOCK_N, BLOCK_K, GROUP, UNITS, WHOLE, False, False, SUMS, "tf32",
    )  # fmt: skip


@triton.jit
def _matmul_tensor_persistent(
    a_desc, b_desc, c_desc, c_ptr, m, n, k, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    B_BY_COLUMNS: tl.constexpr, PARTS: tl.constexpr, SUMS: tl.constexpr,
):  # fmt: skip
    gemm.persistent(
        a_desc, b_desc, c_desc, c_ptr, m, n, k, c_row, c_column,
        BLOCK_M, BLOCK_N, BLOCK_K, GROUP, B_BY_COLUMNS, PARTS, SUMS, "tf32",
    )  # fmt: skip


class Tile(NamedTuple):
    """What a program computes at once, and how: ``depth`` is in bytes along k, ``parts`` are those of c on its way
    out."""

    block_m: int
    block_n: int
    depth: int
    num_warps: int
    num_stages: int
    parts: int = 1
    weight: float = 1.0  # time per result, relative to the others

    def rounds(self, m: int, n: int, sms: int) -> int:
        """Tiles that the busiest SM computes."""
        return ceil_div(ceil_div(m, self.block_m) * ceil_div(n, self.block_n), sms)

    def cost(self, m: int, n: int, sms: int) -> float:
        """What the busiest SM has to do."""
        return self.rounds(m, n, sms) * self.block_m * self.block_n * self.weight


TUNED = (
    Tile(128, 256, 128, 8, 3),
    Tile(128, 128, 128, 8, 4, weight=1.1),
    Tile(64, 128, 128, 4, 4, weight=1.3),
    Tile(64, 64, 128, 4, 4, weight=1.6),
)
# By bytes of a result. Of 128 x 256 the sweep took four stages and as many parts of c as that leaves room for: with
# three or with parts twice as large, 1 to 3 % slower at 8192^3, and 128 x 128 was 5 % slower.
PERSISTENT = {
    2: (
        Tile(128, 256, 128, 8, 4, 2),
        Tile(128, 128, 128, 8, 4, 1, weight=1.1),
        Tile(64, 128, 128, 4, 4, 1, weight=1.3),
        Tile(64, 64, 128, 4, 4, 1, weight=1.6),
    ),
    4: (
        Tile(128, 256, 128, 8, 4, 4),
        Tile(128, 128, 128, 8, 4, 2, weight=1.1),
        Tile(64, 128, 128, 4, 4, 1, weight=1.3),
        Tile(64, 64, 128, 4, 4, 1, weight=1.6),
    ),
}
GROUP = 16  # of 1 to 32 the best at 8192^3 by 1 %, where a group of tiles of b and of a fit L2


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
    operands.require_formats(a)
    m, n, k = matmul_extents(a, b, c)
    if c.numel():
        numbers, units = operands.scaled(a, b, c)
        grid = (ceil_div(m, block_m) * ceil_div(n, block_n),)
        _matmul_tensor_tiled[grid](
            a, b, c, *numbers, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP=group, UNITS=units,
            WHOLE=k % block_k == 0, SUMS=operands.sums_type(c), num_warps=num_warps, num_stages=num_stages,
        )  # fmt: skip


def tuned(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """The tile that keeps the busiest SM least busy. Raises ``ValueError`` for shapes that do not multiply."""
    tile = _best(TUNED, a, c)
    tiled(
        a,
        b,
        c,
        block_m=tile.block_m,
        block_n=tile.block_n,
        block_k=tile.depth // a.element_size(),
        group=GROUP,
        num_warps=tile.num_warps,
        num_stages=tile.num_stages,
    )


def persistent(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, packed: torch.Tensor) -> None:
    """Operands through tensor descriptors, one program per SM; ``tuned`` where there is nothing to speed up.

    Operands that descriptors or ``wgmma`` cannot take are first copied to the workspace ``packed``. Raises
    ``ValueError`` for shapes that do not multiply.
    """
    operands.require_formats(a)
    m, n, k = operands.extents(a, b, c)
    if c.numel():
        along_k = True if operands.accelerated() and a.element_size() != 2 else None
        a, b = realigned(a, b, packed, b_along_k=along_k)
    if not operands.described(a, b):
        return tuned(a, b, c)
    if c.numel():
        tile = _best(PERSISTENT[c.element_size()], a, c)
        block_k, sms = tile.depth // a.element_size(), operands.multiprocessors(a)
        left, right = operands.for_kernel(a, b, tile.block_m, tile.block_n, block_k, True)
        out = operands.result_descriptor(c, tile.block_m, tile.block_n // tile.parts)
        grid = (min(ceil_div(m, tile.block_m) * ceil_div(n, tile.block_n), sms),)
        _matmul_tensor_persistent[grid](
            left, right, out, c, m, n, k, *c.stride(), BLOCK_M=tile.block_m, BLOCK_N=tile.block_n, BLOCK_K=block_k,
            GROUP=GROUP, B_BY_COLUMNS=b.stride(0) == 1, PARTS=tile.parts,
            SUMS=operands.sums_type(c), num_warps=tile.num_warps, num_stages=tile.num_stages,
        )  # fmt: skip


def _best(tiles: tuple[Tile, ...], a: torch.Tensor, c: torch.Tensor) -> Tile:
    sms = operands.multiprocessors(a)
    return min(tiles, key=lambda tile: tile.cost(*c.shape, sms))
