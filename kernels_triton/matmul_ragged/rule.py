"""Which of the two ways of sharing out k fits a shape, and with which tile. Pure.

The constants come from sweeps over tiles, parts and pieces for the 24 shapes of the operation on an H200; what a rule
says was taken where it was within a few per cent of the best for all shapes of its kind. The borders lie where those 24
shapes ask for them, and no others have been timed against this rule: ``LONG`` and the half tiles of ``small_tile`` rest
on one or two shapes each (32x8192x8192 alone for the latter).
"""

from __future__ import annotations

from typing import NamedTuple

from pytest_roofline.launch import ceil_div

PARTS = {2: 64, 4: 128}  # parts of k at most, by bytes of an operand: the second kernel adds up 64 in one pass
DEPTH = 256  # elements of k that a part should have: below, starting costs more than it computes
PIECES = 8  # pieces of a tile of the last wave: more are shorter, but each stores a tile
PACK = 16  # bytes that a store through a descriptor counts in
STEPS = 32  # steps over k that a tile must have to be worth cutting


class Tile(NamedTuple):
    """What a program computes at once, and how; ``resident`` programs of it share an SM."""

    block_m: int
    block_n: int
    block_k: int
    num_warps: int
    num_stages: int
    resident: int = 2
    group: int = 8

    @property
    def elements(self) -> int:
        """Results."""
        return self.block_m * self.block_n

    def turned(self) -> Tile:
        """The tile of the transposed product."""
        return self._replace(block_m=self.block_n, block_n=self.block_m)

    def count(self, m: int, n: int) -> int:
        """Tiles that cover m x n results."""
        return ceil_div(m, self.block_m) * ceil_div(n, self.block_n)


class Plan(NamedTuple):
    """``parts`` of k for every tile; or, with 0 parts, ``whole`` tiles undivided and the others in ``pieces``."""

    tile: Tile
    parts: int
    whole: int = 0
    pieces: int = 0


LARGE = {2: Tile(128, 128, 64, 4, 3), 4: Tile(64, 64, 32, 4, 3, resident=3)}
ALONE = {2: Tile(128, 128, 64, 4, 4, resident=1), 4: Tile(64, 64, 32, 4, 3, resident=3)}
# Of short sums the stores are a large part: twice the warps store sooner, and where rows of c do not begin with packs,
# whose ends are shared with the tile beside, wide tiles have fewer ends.
SHORT = Tile(128, 128, 64, 8, 4, resident=1)
WIDE = Tile(64, 256, 64, 4, 2)
FLAT, LONG = Tile(64, 128, 64, 4, 4), 4096  # for rows of so many columns: a is read a half as often


def chosen(m: int, n: int, k: int, itemsize: int, sms: int) -> Plan:
    """The plan for a product of that shape on so many SMs."""
    tile = small_tile(m, n, itemsize, sms)
    if tile.count(m, n) <= 2 * sms:
        # Few small tiles: loading is what takes long, and only more programs load faster. Parts of equal size keep all
        # of them busy, and the tiles that they store are small.
        plan = split(m, n, k, tile, sms, PARTS[itemsize])
        if itemsize == 2 and plan.parts > 1 and tile.block_m == 64 and n >= LONG:
            return split(m, n, k, FLAT, sms, PARTS[itemsize])
        return plan
    tile = large_tile(m, n, itemsize, sms)
    if tile.count(m, n) % (tile.resident * sms) == 0 or k < STEPS * tile.block_k:
        # Nothing is left over, or too little per tile to cut it.
        if itemsize == 2 and k < STEPS * tile.block_k:
            tile = SHORT if tile.resident == 1 else WIDE if n * itemsize % PACK else tile
        return split(m, n, k, tile, sms)
    # Many tiles: parts would take each of them through memory, pieces only those of the last wave.
    return stream(m, n, k, tile, sms)


def split(m: int, n: int, k: int, tile: Tile, sms: int, most: int = 1) -> Plan:
    """As many parts as keep every SM busy, but no more than ``most``."""
    parts = min(tile.resident * sms // tile.count(m, n), most, k // max(DEPTH, tile.block_k))
    return Plan(tile, max(1, parts))


def stream(m: int, n: int, k: int, tile: Tile, sms: int) -> Plan:
    """Whole tiles for as long as every program has one; the others in pieces, at most one for each program."""
    tiles, programs = tile.count(m, n), tile.resident * sms
    whole = tiles // programs * programs
    return Plan(tile, 0, whole, min((tiles - whole) * PIECES, programs))


def small_tile(m: int, n: int, itemsize: int, sms: int) -> Tile:
    """At most 64 x 64 results, and no more rows or columns than there are; longer where it is narrow, half as wide
    where that fills the SMs without parts of k."""
    rows, columns = (min(64, max(16, 1 << (extent - 1).bit_length())) for extent in (m, n))
    if itemsize == 4:
        return Tile(rows, columns, 32, 4, 3, resident=4)
    if columns < 64 and m > 64:
        return Tile(128, columns, 64, 4, 5, resident=1)
    if rows < 64:
        half = Tile(rows, 32, 128, 4, 5)
        return half if columns == 64 and 3 * sms // 2 <= half.count(m, n) <= 2 * sms else Tile(rows, columns, 128, 4, 4)
    if m <= 64 and n <= 64:
        return Tile(rows, min(columns, 32), 128, 4, 5)  # one tile alone could not use all SMs
    return Tile(rows, columns, 64, 4, 6)


def large_tile(m: int, n: int, itemsize: int, sms: int) -> Tile:
    """Two programs per SM, of which one computes while the other starts or stores; one where there are few tiles."""
    tile = LARGE[itemsize]
    return tile if tile.count(m, n) >= tile.resident * sms else ALONE[itemsize]
