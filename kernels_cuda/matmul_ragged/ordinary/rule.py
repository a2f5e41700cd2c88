"""Which tile, and how the steps along k are shared out, for products on the ordinary cores. Pure.

Every choice is weighed by when the busiest multiprocessor should be done. The clocks of the parts of this estimate were
fitted to 230 products of 24 shapes on an H200: what it picks took 2 % longer than the fastest of them in the mean. Of
shapes that it was not fitted to four were timed: 0.80 to 1.26 times as fast as torch.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

from pytest_roofline.launch import ceil_div

from ...matmul.tiles import LARGE, MEDIUM, SMALL, TINY, Tile
from ..sharing import PARTS, shared_out

MULTIPLIED = 128  # products of an SM per clock
SPEED = {LARGE: 0.9, MEDIUM: 0.77, SMALL: 0.64, TINY: 0.36}  # of the peak, of an SM with as many tiles as it holds
ALONE = 0.22  # exponent of how much slower an SM is with fewer
SCATTERED = 1.2  # times as long with a b of rows that are not aligned: turned, the narrow side of a tile is copied so
# Clocks.
TURN = 2800  # of a tile: its first loads and last stores
DETOUR = 4500  # until a second kernel has begun to join
WRITTEN = 9  # bytes of partial results per clock and SM, there and back


class Plan(NamedTuple):
    """``parts`` of k for every tile, or pieces of the last tiles (0 parts): of c, or ``turned`` of its transpose."""

    tile: Tile
    parts: int
    turned: bool = False


@functools.lru_cache(maxsize=1024)
def plan(m: int, n: int, k: int, sms: int, room: int, scattered: bool = False) -> Plan:
    """The plan that should be done first; its partial sums take at most ``room`` elements. ``scattered`` is a b that is
    copied element by element."""

    def time(choice: Plan) -> float:
        return clocks(m, n, k, choice, sms, room) * (SCATTERED if scattered and not choice.turned else 1)

    return min(choices(m, n, k, sms, room), key=time)


def split(m: int, n: int, k: int, sms: int, room: int) -> Plan:
    """The best plan in equal parts of c as it lies."""
    plans = [p for p in choices(m, n, k, sms, room) if p.parts and not p.turned]
    return min(plans, key=lambda choice: clocks(m, n, k, choice, sms, room))


def choices(m: int, n: int, k: int, sms: int, room: int) -> Iterator[Plan]:
    """Every tile, also turned, with as many parts as fill the device, with fewer, and in pieces."""
    for turned in (False, True):
        down, across = (n, m) if turned else (m, n)
        for tile in SPEED:
            count, elements = tiles(down, across, tile), tile.rows * tile.columns
            most = max(1, min(PARTS, room // (count * elements), ceil_div(k, 4 * tile.depth)))
            places = sms * tile.resident
            filling = {ceil_div(waves * places, count) for waves in (1, 2)} | {
                waves * places // count for waves in (1, 2)
            }
            for parts in {1, 2, 3, sms // count, *filling}:
                if 1 <= parts <= most:
                    yield Plan(tile, parts, turned)
            yield Plan(tile, 0, turned)


def tiles(m: int, n: int, tile: Tile) -> int:
    """Tiles that cover m x n."""
    return ceil_div(m, tile.rows) * ceil_div(n, tile.columns)


def clocks(m: int, n: int, k: int, choice: Plan, sms: int, room: int) -> float:
    """When the busiest SM should be done."""
    tile, parts, turned = choice
    count = tiles(n, m, tile) if turned else tiles(m, n, tile)
    multiplying, stored, turns = _split(count, k, tile, parts, sms) if parts else _pieces(count, k, tile, sms, room)
    detour = DETOUR + stored * tile.rows * tile.columns * 8 / (WRITTEN * sms) if stored else 0
    return turns * TURN + multiplying + detour


def _split(count: int, k: int, tile: Tile, parts: int, sms: int) -> tuple[float, int, int]:
    """Clocks that the busiest SM multiplies, tiles of partial sums, and tiles that it computes one after another."""
    span = ceil_div(ceil_div(k, parts), tile.depth) * tile.depth
    waves, rest = divmod(ceil_div(count * parts, sms), tile.resident)
    alone = _work(tile, span)
    last = rest * alone / (rest / tile.resident) ** ALONE if rest else 0
    return waves * tile.resident * alone + last, count * parts if parts > 1 else 0, waves + (rest > 0)


def _pieces(count: int, k: int, tile: Tile, sms: int, room: int) -> tuple[float, int, int]:
    """The same of whole tiles and pieces of the last ones."""
    share = shared_out(count, max(1, ceil_div(k, tile.depth)), sms * tile.resident, room // (tile.rows * tile.columns))
    if not share.shared:
        return _split(count, k, tile, 1, sms)
    places, work = sms * tile.resident, _work(tile, k)
    undivided = share.whole / places * tile.resident * work
    divided = share.shared / share.pieces * min(tile.resident, ceil_div(share.pieces, sms)) * work
    return undivided + divided, share.pieces + share.shared, share.whole // places + 2


def _work(tile: Tile, k: int) -> float:
    """Clocks of an SM for one tile among others."""
    return tile.rows * tile.columns * k / MULTIPLIED / SPEED[tile]


def least_waste(m: int, n: int) -> Tile:
    """The tile that covers m x n with the fewest clocks, whoever computes it."""
    return min(SPEED, key=lambda tile: tiles(m, n, tile) * _work(tile, 1))
