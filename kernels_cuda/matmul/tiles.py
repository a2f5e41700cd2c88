"""The tuned product: which tile for which size, and which way of copying for which strides."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_bool, ceil_div, misalignment
from pytest_roofline.operands import matmul_extents, require_dtype

from .._mma import multiprocessors

SOURCE = Source(Path(__file__).with_name("tuned.cu"))
PACK = 16  # bytes of one vector access
LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Tile:
    """What a block computes and how; the template parameters of ``matmul_tuned`` in their order.

    ``rows`` x ``columns`` results, ``depth`` steps at a time, ``height`` x ``width`` results per thread in each of
    ``slices`` parts of the block, ``stages`` tiles in shared memory, ``resident`` blocks to fit an SM's registers.
    """

    rows: int
    columns: int
    depth: int
    height: int
    width: int
    slices: int
    stages: int
    resident: int

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.slices * self.rows * self.columns // (self.height * self.width)

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block: rows of both operands' tiles are padded by four words."""
        return 4 * self.stages * self.depth * (self.rows + self.columns + 8)

    @property
    def parameters(self) -> str:
        """The first template arguments."""
        sizes = (self.rows, self.columns, self.depth, self.height, self.width, self.slices, self.stages, self.resident)
        return ", ".join(map(str, sizes))


LARGE = Tile(128, 128, 16, 16, 8, slices=1, stages=4, resident=2)
# 12 x 8 results take few enough registers for a third block. With a fourth stage, level 1 would be too small to keep
# the half of a's lines that the next tile takes, and it was 5 % slower.
THREEFOLD = Tile(96, 128, 16, 12, 8, slices=1, stages=3, resident=3)
MEDIUM = Tile(64, 64, 32, 8, 8, slices=2, stages=3, resident=2)
SMALL = Tile(32, 64, 32, 8, 4, slices=2, stages=3, resident=3)
TINY = Tile(16, 32, 64, 4, 4, slices=4, stages=3, resident=4)

SMS = 132  # of an H200, for which a CPU computes, so that it counts what runs there; an A100 has 108
SPEED = {THREEFOLD: 1.01, LARGE: 1.0, MEDIUM: 0.9, SMALL: 0.8, TINY: 0.5}
"""Results per time of an SM that has such tiles to compute, relative to the largest; see :func:`choose`."""


@functools.lru_cache(maxsize=1024)
def choose(m: int, n: int, sms: int, *, threefold: bool = True) -> Tile:
    """The tile that covers an m x n result soonest, if each of ``sms`` SMs computes as many of them as the busiest one.

    Without ``threefold`` one of the others. The speeds were read off square products of 128 to 4096 on an H200; the
    tiles were the fastest of 19 small and 44 large ones at one of them. The rule then picks the fastest of the last
    four at each, but for 2 % at 1536.
    """

    def time(tile: Tile) -> float:
        tiles = ceil_div(m, tile.rows) * ceil_div(n, tile.columns)
        return ceil_div(tiles, sms) * tile.rows * tile.columns / SPEED[tile]

    return min((tile for tile in SPEED if threefold or tile != THREEFOLD), key=time)


def choose_for(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> Tile:
    """:func:`choose` for a product and the device that it lies on, by a tile that leaves the copies registers.

    Three blocks to an SM leave 168 to a thread. That is enough beside packs of b; what copies b by steps or elements,
    or packs of a that are cut, would spill up to 232 bytes of a thread, compiled for sm_80. Raises ``ValueError`` for
    shapes that do not multiply.
    """
    m, n, _ = matmul_extents(a, b, c)
    enough = layout(a) in ("STEPS", "PACKS") and layout(b.t()) in ("PACKS", "CUT_PACKS")
    return choose(m, n, SMS if c.device.type == "cpu" else multiprocessors(c), threefold=enough)


def launch(tile: Tile, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """One block per tile of ``c``. Raises ``ValueError`` for shapes that do not multiply, ``TypeError`` for other
    elements than f32."""
    m, n, k = matmul_extents(a, b, c)
    require_dtype("this product", torch.float32, a, c)
    layouts = f"{layout(a)}, {layout(b.t())}"
    wide = c.stride(1) == 1 and n % 4 == 0 and c.stride(0) * 4 % PACK == 0 and misalignment(c, PACK) == 0
    name = f"matmul_tuned<{tile.parameters}, {layouts}, {offset(tile, a, b)}, {c_bool(wide)}>"
    grid = (ceil_div(m, tile.rows) * ceil_div(n, tile.columns),)
    arguments = (a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride())
    SOURCE.function(name)(grid, (tile.threads,), arguments, tile.shared_bytes)


def layout(operand: torch.Tensor) -> str:
    """How an operand, its elements down and its steps across, is copied; see ``operand.cuh``."""
    elements, steps = operand.stride()
    if steps == 1:
        return "STEPS"
    if elements != 1 or steps * 4 % PACK or misalignment(operand, PACK):
        return "ELEMENTS"
    return "PACKS" if operand.shape[0] % 4 == 0 else "CUT_PACKS"


def offset(tile: Tile, a: torch.Tensor, b: torch.Tensor) -> str:
    """The integer that holds any distance within a tile: 64 bits only for rows of more than 2^24 elements or so."""
    (a_row, a_column), (b_row, b_column) = a.stride(), b.stride()
    reach = max(tile.rows * a_row + tile.depth * a_column, tile.columns * b_column + tile.depth * b_row)
    return "int" if reach <= LARGEST else "long long"
