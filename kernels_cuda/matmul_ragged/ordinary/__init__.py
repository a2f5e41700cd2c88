"""The same in f32 on the ordinary cores, by the tiles of the tuned product."""

from __future__ import annotations

import functools
from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div, require

from ...matmul import tiles
from ...matmul.tiles import SPEED, Tile, layout, offset
from ..sharing import GROUP, JOIN_WARPS, JOINED, PARTS, join_share, multiprocessors, shared_out

_HERE = Path(__file__).parent
SPLIT_K = Source(_HERE / "split_k.cu")
STREAM_K = Source(_HERE / "stream_k.cu")

MULTIPLIED = 128  # products of an SM per clock
DETOUR = 6000  # clocks until a second kernel has begun to join: some 3 us
WRITTEN = 24  # bytes of partial results that an SM's share of memory takes per clock, there and back


def split_k(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor) -> None:
    """k in equal parts, as many as fill the device; deterministic. Raises ``ValueError`` for shapes that do not
    multiply."""
    m, n, k = extents(a, b, c)
    if c.numel():
        tile, parts, _ = best_split(m, n, k, multiprocessors(a), partials.numel())
        launch_split(a, b, c, partials, tile, parts)


def stream_k(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor) -> None:
    """The same number of steps over k for every block; deterministic. Raises ``ValueError`` for shapes that do not
    multiply."""
    m, n, _ = extents(a, b, c)
    if c.numel():
        launch_stream(a, b, c, partials, least_waste(m, n), multiprocessors(a))


def chosen(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor) -> None:
    """Whichever should be done first. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, k = extents(a, b, c)
    if not c.numel():
        return
    sms = multiprocessors(a)
    tile, parts, clocks = best_split(m, n, k, sms, partials.numel())
    if stream_clocks(m, n, k, sms) < clocks:
        launch_stream(a, b, c, partials, least_waste(m, n), sms)
    else:
        launch_split(a, b, c, partials, tile, parts)


def launch_split(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, tile: Tile, parts: int
) -> None:
    """``split_k`` with a tile and up to ``parts`` parts. Raises ``ValueError`` where the workspace is too small."""
    m, n, k = extents(a, b, c)
    span = ceil_div(ceil_div(k, parts), tile.depth) * tile.depth
    parts = ceil_div(k, span) if k else 1
    if parts == 1:
        tiles.launch(tile, a, b, c)
        return
    count = ceil_div(m, tile.rows) * ceil_div(n, tile.columns)
    require(parts * count * tile.rows * tile.columns <= partials.numel(), f"{parts} parts need more workspace")
    name = f"matmul_ragged_ordinary_split_k<{_instance(tile, a, b)}>"
    values = (a, b, partials, m, n, k, *a.stride(), *b.stride(), GROUP, span)
    SPLIT_K.function(name)((count, parts), (tile.threads,), values, tile.shared_bytes)
    share = join_share(parts)
    blocks = ceil_div(tile.rows * tile.columns * share, JOIN_WARPS * JOINED)
    join = SPLIT_K.function(f"matmul_ragged_ordinary_join<{tile.rows}, {tile.columns}>")
    join((count, blocks), (JOIN_WARPS * 32,), (partials, c, m, n, *c.stride(), GROUP, parts, share))


def launch_stream(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, tile: Tile, sms: int
) -> None:
    """``stream_k`` with a tile on ``sms`` multiprocessors. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, k = extents(a, b, c)
    steps, elements = max(1, ceil_div(k, tile.depth)), tile.rows * tile.columns
    count = ceil_div(m, tile.rows) * ceil_div(n, tile.columns)
    share = shared_out(count, steps, sms * tile.resident, partials.numel() // elements)
    ranges = (GROUP, share.tiles, share.whole, share.pieces)
    name = f"matmul_ragged_ordinary_stream_k<{_instance(tile, a, b)}>"
    values = (a, b, c, partials, m, n, k, *a.stride(), *b.stride(), *c.stride(), *ranges)
    STREAM_K.function(name)((share.blocks,), (tile.threads,), values, tile.shared_bytes)
    if share.shared:
        join = STREAM_K.function(f"matmul_ragged_ordinary_join_runs<{tile.rows}, {tile.columns}>")
        warps = join_share(share.runs)
        values = (partials, c, m, n, *c.stride(), *ranges, steps, warps)
        join((share.shared, ceil_div(elements * warps, JOIN_WARPS * JOINED)), (JOIN_WARPS * 32,), values)


@functools.lru_cache(maxsize=1024)
def best_split(m: int, n: int, k: int, sms: int, room: int) -> tuple[Tile, int, float]:
    """The tile and the number of parts that should be done first, and after how many clocks.

    Every part is a tile of its own for some SM, of which the busiest counts; more than one part makes a detour through
    ``room`` elements of workspace.
    """
    candidates = []
    for tile in SPEED:
        count = ceil_div(m, tile.rows) * ceil_div(n, tile.columns)
        elements = tile.rows * tile.columns
        most = max(1, min(PARTS, room // (count * elements), ceil_div(k, 4 * tile.depth)))
        for parts in range(1, most + 1):
            span = ceil_div(ceil_div(k, parts), tile.depth) * tile.depth
            multiplying = ceil_div(count * parts, sms) * elements * span / MULTIPLIED / SPEED[tile]
            joining = DETOUR + count * elements * parts * 8 / (WRITTEN * sms) if parts > 1 else 0
            candidates.append((multiplying + joining, -elements, parts, tile))
    clocks, _, parts, tile = min(candidates, key=lambda found: found[:3])
    return tile, parts, clocks


def stream_clocks(m: int, n: int, k: int, sms: int) -> float:
    """Clocks until :func:`stream_k` should be done: all SMs multiply to the end, and the last tiles make a detour."""
    tile = least_waste(m, n)
    count, elements = ceil_div(m, tile.rows) * ceil_div(n, tile.columns), tile.rows * tile.columns
    blocks = sms * tile.resident
    multiplying = count * elements * k / MULTIPLIED / sms / SPEED[tile]
    return multiplying + DETOUR + (count % blocks + blocks) * elements * 8 / (WRITTEN * sms)


def least_waste(m: int, n: int) -> Tile:
    """The tile that covers m x n with the fewest clocks, whoever computes it."""

    def clocks(tile: Tile) -> float:
        return ceil_div(m, tile.rows) * ceil_div(n, tile.columns) * tile.rows * tile.columns / SPEED[tile]

    return min(SPEED, key=clocks)


def extents(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[int, int, int]:
    """m, n and k. Raises ``ValueError`` for shapes that do not multiply."""
    (m, k), (_, n) = a.shape, b.shape
    fits = b.shape == (k, n) and c.shape == (m, n)
    require(fits, f"{tuple(a.shape)} times {tuple(b.shape)} is not {tuple(c.shape)}")
    return m, n, k


def _instance(tile: Tile, a: torch.Tensor, b: torch.Tensor) -> str:
    return f"{tile.parameters}, {layout(a)}, {layout(b.t())}, {offset(tile, a, b)}"
