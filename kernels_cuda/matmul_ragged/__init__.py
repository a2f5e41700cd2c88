"""c[m, n] = a[m, k] b[k, n] where tiles do not fill the device, in CUDA C++: on the tensor cores, or in f32 on the
ordinary ones."""

from __future__ import annotations

from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_type, ceil_div, require
from pytest_roofline.operands import matmul_extents

from .._mma import Tiling, access, aligned, require_result
from ..matmul_tensor import hopper
from . import on_hopper, ordinary
from .sharing import GROUP, JOIN_WARPS, JOINED, PARTS, join_share, multiprocessors, shared_out

_HERE = Path(__file__).parent
SPLIT_K = Source(_HERE / "split_k.cu")
STREAM_K = Source(_HERE / "stream_k.cu")

# By rows and columns. A narrow tile reads lines of 128 bytes, because nothing else is on its way from memory meanwhile.
TILINGS = {
    (16, 128): Tiling(16, 128, 16, 32, 128, 4),
    (32, 128): Tiling(32, 128, 32, 32, 128, 4),
    (64, 128): Tiling(64, 128, 32, 64, 128, 4),
    (128, 16): Tiling(128, 16, 32, 16, 128, 4),
    (128, 32): Tiling(128, 32, 32, 32, 128, 4),
    (128, 64): Tiling(128, 64, 64, 32, 128, 4),
    (64, 64): Tiling(64, 64, 32, 32, 128, 4),
    (128, 128): Tiling(128, 128, 64, 32, 128, 4),
}


def split_k(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor) -> None:
    """k in equal parts, as many as fill the device; deterministic. Raises ``ValueError`` for shapes that do not
    multiply."""
    if a.dtype is torch.float32:
        ordinary.split_k(a, b, c, partials=partials)
        return
    m, n, k = matmul_extents(a, b, c)
    if c.numel():
        tiling = tiling_for(m, n)
        tiles, steps = _tiles(m, n, tiling), ceil_div(k, tiling.line_bytes // a.element_size())
        parts = min(2 * multiprocessors(a) // tiles, steps // 2, PARTS, partials.numel() // (tiles * tiling.elements))
        launch_split(a, b, c, partials, tiling, max(1, parts))


def stream_k(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor) -> None:
    """The same number of steps over k for every multiprocessor; deterministic. Raises ``ValueError`` for shapes that do
    not multiply."""
    if a.dtype is torch.float32:
        ordinary.stream_k(a, b, c, partials=partials)
        return
    m, n, _ = matmul_extents(a, b, c)
    if c.numel():
        tiling = tiling_for(m, n)
        launch_stream(a, b, c, partials, tiling, multiprocessors(a))


def wgmma_fitted(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor, packed: torch.Tensor
) -> None:
    """On Hopper's tensor cores, by tiles that fit the shape, with copies of operands that the copy engine does not
    take; deterministic. Raises ``ValueError`` for shapes that do not multiply."""
    on_hopper.fitted(a, b, c, partials=partials, packed=packed)


def chosen(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor, packed: torch.Tensor) -> None:
    """Whichever fits the shape and the device. Raises ``ValueError`` for shapes that do not multiply."""
    if a.dtype is torch.float32:
        ordinary.chosen(a, b, c, partials=partials, packed=packed)
        return
    m, n, _ = matmul_extents(a, b, c)
    if hopper.available(c.device):
        wgmma_fitted(a, b, c, partials=partials, packed=packed)
        return
    # Fewer tiles than multiprocessors: with equal parts all are busy. More: parts would cost a detour through memory
    # for every tile, pieces only for those of the last wave.
    few = _tiles(m, n, tiling_for(m, n)) < multiprocessors(a)
    (split_k if few else stream_k)(a, b, c, partials=partials)


def tiling_for(m: int, n: int) -> Tiling:
    """The smallest tile that holds a short side of c; small tiles where both are short."""
    if max(m, n) <= 128:
        return TILINGS[64, 64]
    rows = next((rows for rows in (16, 32, 64) if m <= rows), 128)
    columns = next((columns for columns in (16, 32, 64) if n <= columns), 128)
    return TILINGS[rows, columns]


def _extents(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[int, int, int]:
    """m, n and k. Raises ``ValueError`` for shapes that do not multiply, ``TypeError`` for other formats than those of
    16 bits: parts of a sum meet in f32, which integers would not survive."""
    extents = matmul_extents(a, b, c)
    if a.dtype not in (torch.float16, torch.bfloat16):
        raise TypeError(f"there is no rule for how to share out k of {a.dtype}")
    require_result(a, c)
    return extents


def launch_split(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, tiling: Tiling, parts: int
) -> None:
    """``split_k`` with another tiling and up to ``parts`` parts. Raises ``ValueError`` where the workspace does not
    hold them, ``TypeError`` for other formats than those of 16 bits."""
    m, n, k = _extents(a, b, c)
    tiles, all_steps = _tiles(m, n, tiling), max(1, ceil_div(k, tiling.line_bytes // a.element_size()))
    steps = ceil_div(all_steps, parts)
    parts = ceil_div(all_steps, steps)
    require(parts == 1 or parts * tiles * tiling.elements <= partials.numel(), f"{parts} parts need more workspace")
    types = f"{c_type(a)}, {c_type(c)}"
    function = SPLIT_K.function(f"matmul_ragged_split_k<{types}, {tiling.parameters}, {access(a, b)}>")
    shape, strides = (m, n, k), (*a.stride(), *b.stride(), *c.stride())
    values = (a, b, c, partials, *shape, *strides, GROUP, steps, aligned(c))
    function((tiles, parts), (tiling.threads,), values, tiling.shared_bytes)
    if parts > 1:
        share = join_share(parts)
        blocks = ceil_div(tiling.elements * share, JOIN_WARPS * JOINED)
        join = SPLIT_K.function(f"matmul_ragged_join<{types}, {tiling.rows}, {tiling.columns}>")
        values = (partials, c, m, n, *c.stride(), GROUP, parts, share)
        join((tiles, blocks), (JOIN_WARPS * 32,), values)


def launch_stream(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, tiling: Tiling, blocks: int
) -> None:
    """``stream_k`` with another tiling and up to ``blocks`` blocks. Raises ``ValueError`` for shapes that do not
    multiply, ``TypeError`` for other formats than those of 16 bits."""
    m, n, k = _extents(a, b, c)
    steps = max(1, ceil_div(k, tiling.line_bytes // a.element_size()))
    share = shared_out(_tiles(m, n, tiling), steps, blocks, partials.numel() // tiling.elements)
    types, ranges = f"{c_type(a)}, {c_type(c)}", (GROUP, share.tiles, share.whole, share.pieces)
    function = STREAM_K.function(f"matmul_ragged_stream_k<{types}, {tiling.parameters}, {access(a, b)}>")
    shape, strides = (m, n, k), (*a.stride(), *b.stride(), *c.stride())
    values = (a, b, c, partials, *shape, *strides, *ranges, aligned(c))
    function((share.blocks,), (tiling.threads,), values, tiling.shared_bytes)
    if share.shared:
        join = STREAM_K.function(f"matmul_ragged_join_runs<{c_type(c)}, {tiling.rows}, {tiling.columns}>")
        warps = join_share(share.runs)
        values = (partials, c, m, n, *c.stride(), *ranges, steps, warps)
        join((share.shared, ceil_div(tiling.elements * warps, JOIN_WARPS * JOINED)), (JOIN_WARPS * 32,), values)


def _tiles(m: int, n: int, tiling: Tiling) -> int:
    return ceil_div(m, tiling.rows) * ceil_div(n, tiling.columns)
