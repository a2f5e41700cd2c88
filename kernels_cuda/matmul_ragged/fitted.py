"""Which tile of ``wgmma_fitted`` fits a shape, and into how many parts k is cut. Pure.

Every tile that the instruction allows is weighed by when the busiest multiprocessor should be done with its share. The
clocks of the parts of this estimate were fitted to 570 products of 24 shapes on four H200s: what it picks took 2 %
longer than the fastest of them in the mean. That is of the shapes that it was fitted to. On 20 others (``HELD_OUT`` of
the operation) the product is 1.04 times as fast as torch's in the geometric mean, carried by three whose operands are
not aligned; 0.87 times on the 17 that are, at worst 0.62 (100x4000x9000.t).
"""

from __future__ import annotations

import functools
import itertools
import math
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
PARTNERS = (2, 8)  # blocks of a cluster that share a tile; of four no more find a place than of eight
LEAST_SHARED = 64  # lines of an operand: to share fewer is not worth it that two blocks wait for each other

# Clocks of an SM.
START = 3300  # of a kernel: until its first loads come
ROUND = 3000  # of a tile whose results are stored, and ...
STORE = 10  # ... per column of them
TURN = 105  # of a step, whatever is multiplied
DETOUR = 2000  # until a second kernel joins parts
MEET = 1000  # of partners, for each doubling of their number, and ...
SUM = 0.16  # ... per result of a tile that they add up
MULTIPLY = 1.2  # of a step, times those of the instructions: under load the clock is lower
LOAD = 2.3  # per line that comes from L2
# Bytes per clock.
MEMORY = 1800  # of the device
PARTIAL = 5.1  # of partial sums per SM, written and read again
OVERLAP = 2.6  # exponent of the norm that adds up computing and loading: 1 would be one after the other


class Tile(NamedTuple):
    """What a block computes at once: 64 rows for each of ``warpgroups``; ``resident`` blocks to an SM.

    Two blocks side by side may share a (``shared`` is ``"A"``) or, one above the other, b (``"B"``). Or ``partners``
    share a tile (``"TILE"``), each an equal part of k, and add up through each other's shared memory.
    """

    warpgroups: int
    columns: int
    shared: str = "NONE"
    resident: int = 1
    partners: int = 1

    @property
    def rows(self) -> int:
        """Results down."""
        return self.warpgroups * WARPGROUP_ROWS

    @property
    def cluster(self) -> int:
        """Blocks that share an operand, or a tile."""
        return 2 if self.shared in ("A", "B") else self.partners

    def b_lines(self, by_columns: bool) -> int:
        """Lines of b in a stage: its columns, or whole boxes of rows."""
        return self.columns if by_columns else ceil_div(self.columns, STEP) * STEP

    def stages(self, by_columns: bool) -> int:
        """As many as shared memory holds, besides its barriers and 1024 bytes to align it."""
        room = SHARED_BYTES // self.resident - 2048
        return min(STAGES, room // ((self.rows + self.b_lines(by_columns)) * LINE + 16))

    def at_once(self, sms: int) -> int:
        """Blocks that a device of so many SMs holds. Clusters of more than two do not fill the groups of 16 or 18 SMs
        that they lie in."""
        held = sms if self.cluster <= 2 else sms * 10 // 11
        return held * self.resident // self.cluster * self.cluster

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

    Of equals one that shares an operand: what does not pass from L2 twice is power for the tensor cores.
    """
    plans = choices(m, n, k, by_columns, sms, room)
    return min(plans, key=lambda choice: (clocks(m, n, k, by_columns, choice, sms), choice.tile.shared == "NONE"))


def choices(m: int, n: int, k: int, by_columns: bool, sms: int, room: int) -> Iterator[Plan]:
    """Every tile, with as many parts of k as fill the device, or fewer. With b by columns the transposed product takes
    the same operands, and may fit a c of few rows better."""
    for turned in (False, True) if by_columns and m < n else (False,):
        down, across = (n, m) if turned else (m, n)
        for tile in tiles(down, across, by_columns):
            clusters = tile.clusters(down, across)
            held = room // (clusters * tile.cluster * tile.rows * tile.columns)
            filling = sms * tile.resident // tile.cluster // clusters
            most = max(1, min(filling, ceil_div(k, STEP) // 2, PARTS, held))
            for parts in {1, *(max(1, most * quarters // 4) for quarters in (1, 2, 3, 4))}:
                yield Plan(tile, parts, turned)
            for shared in together(tile, clusters, k, by_columns, sms) if tile.shared == "NONE" else ():
                yield Plan(shared, 1, turned)


def together(tile: Tile, tiles: int, k: int, by_columns: bool, sms: int) -> Iterator[Tile]:
    """The tile shared by so many blocks that all are there at once, and their sums find room in shared memory."""
    for partners in PARTNERS:
        shared = tile._replace(shared="TILE", partners=partners)
        sums = tile.rows * (tile.columns + 8) * 4
        fits = sums <= tile.stages(by_columns) * (tile.rows + tile.b_lines(by_columns)) * LINE
        if fits and tiles * partners <= shared.at_once(sms) and 2 * partners <= ceil_div(k, STEP):
            yield shared


def tiles(m: int, n: int, by_columns: bool) -> Iterator[Tile]:
    """Tiles of which no warpgroup and no 16 columns lie outside of c. Below 64 columns, which c alone may ask for, the
    tensor cores wait for a."""
    least = min(WARPGROUP_ROWS, ceil_div(n, COLUMNS) * COLUMNS)
    for warpgroups, most in MOST_COLUMNS.items():
        if (warpgroups - 1) * WARPGROUP_ROWS < m:
            for columns in range(least, min(most, ceil_div(n, COLUMNS) * COLUMNS) + 1, COLUMNS):
                yield from variants(warpgroups, columns, m, n, by_columns)


def variants(warpgroups: int, columns: int, m: int, n: int, by_columns: bool) -> Iterator[Tile]:
    """Ways of sharing that have two tiles to share, and two small blocks to an SM."""
    side_by_side = n > columns
    above_each_other = m > warpgroups * WARPGROUP_ROWS and Tile(warpgroups, columns).b_lines(by_columns) >= LEAST_SHARED
    ways = ("NONE", *(["A"] if side_by_side else []), *(["B"] if above_each_other else []))
    small = warpgroups == 1 and columns <= 128
    for shared, resident in itertools.product(ways, (1, 2) if small else (1,)):
        tile = Tile(warpgroups, columns, shared, resident)
        if tile.stages(by_columns) >= 4:
            yield tile


def clocks(m: int, n: int, k: int, by_columns: bool, choice: Plan, sms: int) -> float:
    """When the busiest SM should be done."""
    tile, parts, turned = choice
    m, n = (n, m) if turned else (m, n)
    clusters = tile.clusters(m, n)
    blocks, at_once = clusters * tile.cluster * parts, tile.at_once(sms)
    if not at_once:
        return math.inf  # the device holds no such cluster
    rounds, together = ceil_div(blocks, at_once), min(tile.resident, ceil_div(min(blocks, at_once), sms))
    a_lines = tile.rows / (2 if tile.shared == "A" else 1)
    b_lines = tile.b_lines(by_columns) / (2 if tile.shared == "B" else 1)
    # Four instructions per warpgroup: their products, or reading 64 lines of a and those of b out of shared memory.
    issued = tile.warpgroups * max(2 * tile.columns, WARPGROUP_ROWS + tile.columns)
    busy = max(MULTIPLY * issued, LOAD * (a_lines + b_lines))
    step = max(busy * together, busy + TURN)  # while one block waits, the other one works
    computing = rounds * ceil_div(ceil_div(k, STEP), parts * tile.partners) * step
    loading = 2 * (m * k + k * n + m * n) / MEMORY
    partial = 4 * clusters * tile.cluster * parts * min(tile.rows, m) * min(tile.columns, n) if parts > 1 else 0
    both = (computing**OVERLAP + loading**OVERLAP) ** (1 / OVERLAP)
    storing = rounds * (ROUND + STORE * tile.columns * together) + partial / (PARTIAL * sms)
    joining = DETOUR if parts > 1 else 0
    meeting = MEET * math.log2(tile.partners) + SUM * tile.rows * tile.columns if tile.partners > 1 else 0
    return START + both + storing + joining + meeting
