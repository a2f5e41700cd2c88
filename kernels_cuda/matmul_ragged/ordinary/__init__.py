"""The same in f32 on the ordinary cores, by the tiles of the tuned product."""

from __future__ import annotations

from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div, require
from pytest_roofline.operands import matmul_extents

from ...matmul import tiles
from ...matmul.tiles import Tile, layout, offset
from ...matmul_tensor import align
from ..sharing import GROUP, JOIN_WARPS, JOINED, join_share, multiprocessors, shared_out
from . import rule
from .rule import Plan

_HERE = Path(__file__).parent
SPLIT_K = Source(_HERE / "split_k.cu")
STREAM_K = Source(_HERE / "stream_k.cu")
ROWS_OF_A_COPY = 256  # that are multiplied by b: fewer are done before a copy of it would have paid


def split_k(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor) -> None:
    """k in equal parts, as many as fill the device; deterministic. Raises ``ValueError`` for shapes that do not
    multiply."""
    m, n, k = matmul_extents(a, b, c)
    if c.numel():
        launch(a, b, c, partials, rule.split(m, n, k, multiprocessors(a), partials.numel()))


def stream_k(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor) -> None:
    """The same number of steps over k for every block; deterministic. Raises ``ValueError`` for shapes that do not
    multiply."""
    m, n, _ = matmul_extents(a, b, c)
    if c.numel():
        launch_stream(a, b, c, partials, rule.least_waste(m, n), multiprocessors(a))


def chosen(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor, packed: torch.Tensor) -> None:
    """Whichever :mod:`rule` says, with a copy of b in ``packed`` where its rows are not aligned and that pays.

    Raises ``ValueError`` for shapes that do not multiply, and where ``packed`` is too small.
    """
    m, n, k = matmul_extents(a, b, c)
    if c.numel() == 0:
        return
    scattered = layout(b.t()) == "ELEMENTS"
    if scattered and k and m >= ROWS_OF_A_COPY and b.stride(1) == 1:
        place, _ = align.place(b, packed)
        align.move((b, place))
        b, scattered = place.matrix, False
    launch(a, b, c, partials, rule.plan(m, n, k, multiprocessors(a), partials.numel(), scattered))


def launch(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, plan: Plan) -> None:
    """By a plan. Raises ``ValueError`` where the workspace is too small."""
    if plan.turned:
        a, b, c = b.t(), a.t(), c.t()
    if plan.parts:
        launch_split(a, b, c, partials, plan.tile, plan.parts)
    else:
        launch_stream(a, b, c, partials, plan.tile, multiprocessors(a))


def launch_split(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, tile: Tile, parts: int
) -> None:
    """``split_k`` with a tile and up to ``parts`` parts. Raises ``ValueError`` where the workspace is too small."""
    m, n, k = matmul_extents(a, b, c)
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
    m, n, k = matmul_extents(a, b, c)
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


def _instance(tile: Tile, a: torch.Tensor, b: torch.Tensor) -> str:
    return f"{tile.parameters}, {layout(a)}, {layout(b.t())}, {offset(tile, a, b)}"
