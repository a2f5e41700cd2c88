"""Which tile of ``wgmma_fitted`` fits a shape, and into how many parts k is cut. Pure.

Every tile that the instruction allows is weighed by when the busiest multiprocessor should be done with its share. The
clocks of the parts of this estimate were fitted to 280 products of 24 shapes on an H200: of their tiles, what it picks
took 2 % longer than the fastest in the mean.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

from pytest_roofline.launch import ceil_div

STEP = 64  # elements of k that a stage holds
LINE = 128  # bytes of them
WARPGROUP_ROWS = 64
COLUMNS = 16  # a tile has a multiple of them
MOST_COLUMNS = {1: 256, 2: 256, 3: 192}  # by warpgroups: what the registers hold
SHARED_BYTES = 227 << 10  # of an SM
STAGES = 12  # at most
PARTS = 256  # into which k is split at most

# Clocks of an SM.
START = 4500  # of a kernel: until its first loads come
ROUND = 3000  # of a tile whose results are stored, and ...
STORE = 22  # ... per column of them
TURN = 90  # of a step, whatever is multiplied
MULTIPLY = 1.16  # of a step, times those of the instructions: under load the clock is lower
LOAD = 2.5  # per line that comes from L2
# Bytes per clock.
MEMORY = 2250  # of the device
PARTIAL = 5.5  # of partial sums per SM, written and read again
OVERLAP = 3.4  # exponent of the norm that adds up computing and loading: 1 would be one after the other


class Tile(NamedTuple):
    """What a block computes at once: 64 rows for each of ``warpgroups``; ``resident`` blocks to an SM.

    Two blocks side by side may share a (``shared`` is ``"A"``) or, one above the other, b (``"B"``).
    """

    warpgroups: int
    columns: int
    shared: str = "NONE"
    resident: int = 1

    @property
    def rows(self) -> int:
        """Results down."""
        return self.warpgroups * WARPGROUP_ROWS

    @property
    def cluster(self) -> int:
        """Blocks that share an operand."""
        return 1 if self.shared == "NONE" else 2

    def b_lines(self, by_columns: bool) -> int:
        """Lines of b in a stage: its columns, or whole boxes of rows."""
        return self.columns if by_columns else ceil_div(self.columns, STEP) * STEP

    def stages(self, by_columns: bool) -> int:
        """As many as shared memory holds, besides its barriers and 1024 bytes to align it."""
        room = SHARED_BYTES // self.resident - 2048
        return min(STAGES, room // ((self.rows + self.b_lines(by_columns)) * LINE + 16))

    def clusters(self, m: int, n: int) -> int:
        """Clusters of tiles that cover m x n."""
        down, across = (2 if self.shared == "B" else 1), (2 if self.shared == "A" else 1)
        return ceil_div(m, down * self.rows) * ceil_div(n, across * self.columns)


class Plan(NamedTuple):
    """``parts`` of k for every tile of c, or of its transpose where the product is ``turned``."""

    tile: Tile
    parts: int = 1
    turned: bool = False


@functools.lru_cache(maxsize=1024)
def plan(m: int, n: int, k: int, by_columns: bool, sms: int, room: int) -> Plan:
    """The plan that should be done first; its partial sums take at most ``room`` elements.

    b by columns is what a has to be for the transposed product, which is the other way round then.
    """
    found = [(clocks(m, n, k, by_columns, tile, parts, sms), Plan(tile, parts)) for tile, parts in
             choices(m, n, k, by_columns, sms, room)]  # fmt: skip
    if by_columns and m < n:
        found += [
            (clocks(n, m, k, True, tile, parts, sms), Plan(tile, parts, True))
            for tile, parts in choices(n, m, k, True, sms, room)
        ]
    return min(found)[1]


def choices(m: int, n: int, k: int, by_columns: bool, sms: int, room: int) -> Iterator[tuple[Tile, int]]:
    """Tiles that have no whole warpgroup or half of their columns outside of c, and parts that fill the device, or
    fewer."""
    steps = ceil_div(k, STEP)
    for tile in tiles(m, n, by_columns):
        clusters, at_once = tile.clusters(m, n), sms * tile.resident // tile.cluster
        whole = max(
            1, min(at_once // clusters, steps // 2, PARTS, room // (clusters * tile.cluster * tile.rows * tile.columns))
        )
        for parts in {1, *(max(1, whole * quarters // 4) for quarters in (1, 2, 3, 4))}:
            yield tile, parts


def tiles(m: int, n: int, by_columns: bool) -> Iterator[Tile]:
    """Of those sizes, with each way of sharing that has two tiles to share; two to an SM where they are small."""
    for warpgroups, most in MOST_COLUMNS.items():
        for columns in range(COLUMNS, most + 1, COLUMNS):
            if (warpgroups > 1 and (warpgroups - 1) * WARPGROUP_ROWS >= m) or (
                columns > COLUMNS and columns - COLUMNS >= n
            ):
                continue
            for shared in (
                "NONE",
                *("A" for _ in range(n > columns)),
                *("B" for _ in range(m > warpgroups * WARPGROUP_ROWS)),
            ):
                for resident in (1, 2) if warpgroups == 1 and columns <= 128 else (1,):
                    tile = Tile(warpgroups, columns, shared, resident)
                    if tile.stages(by_columns) >= 4:
                        yield tile


def clocks(m: int, n: int, k: int, by_columns: bool, tile: Tile, parts: int, sms: int) -> float:
    """When the busiest SM should be done."""
    clusters = tile.clusters(m, n)
    blocks, at_once = clusters * tile.cluster * parts, sms * tile.resident // tile.cluster * tile.cluster
    rounds, together = ceil_div(blocks, at_once), min(tile.resident, ceil_div(min(blocks, at_once), sms))
    a_lines = tile.rows / (2 if tile.shared == "A" else 1)
    b_lines = tile.b_lines(by_columns) / (2 if tile.shared == "B" else 1)
    # Four instructions per warpgroup: their products, or reading 64 lines of a and those of b out of shared memory.
    issued = tile.warpgroups * max(2 * tile.columns, WARPGROUP_ROWS + tile.columns)
    busy = max(MULTIPLY * issued, LOAD * (a_lines + b_lines))
    step = max(busy * together, busy + TURN)  # while one block waits, the other one works
    computing = rounds * ceil_div(ceil_div(k, STEP), parts) * step
    loading = 2 * (m * k + k * n + m * n) / MEMORY
    partial = 4 * clusters * tile.cluster * parts * min(tile.rows, m) * min(tile.columns, n) if parts > 1 else 0
    both = (computing**OVERLAP + loading**OVERLAP) ** (1 / OVERLAP)
    return START + both + rounds * (ROUND + STORE * tile.columns) + partial / (PARTIAL * sms)
