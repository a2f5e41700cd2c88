"""c[m, n] = a[m, k] b[k, n] where tiles do not fill the device, in CUDA C++: on the tensor cores, or in f32 on the
ordinary ones."""

from __future__ import annotations

from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_type, ceil_div, require
from pytest_roofline.tensor_map import refusal, tensor_map

from .._mma import Tiling, access, aligned, extents
from ..matmul_tensor import hopper
from . import ordinary
from .sharing import GROUP, JOIN_WARPS, JOINED, PARTS, join_share, multiprocessors, shared_out

_HERE = Path(__file__).parent
SPLIT_K = Source(_HERE / "split_k.cu")
STREAM_K = Source(_HERE / "stream_k.cu")
WGMMA_STREAM_K = Source(_HERE / "wgmma_stream_k.cu", arch=hopper.ARCH)

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
    m, n, k = extents(a, b, c)
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
    m, n, _ = extents(a, b, c)
    if c.numel():
        tiling = tiling_for(m, n)
        launch_stream(a, b, c, partials, tiling, multiprocessors(a))


def chosen(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor) -> None:
    """Whichever fits the shape and the device. Raises ``ValueError`` for shapes that do not multiply."""
    if a.dtype is torch.float32:
        ordinary.chosen(a, b, c, partials=partials)
        return
    m, n, _ = extents(a, b, c)
    if hopper.available(c.device) and not hopper_refuses(a, b):
        wgmma_stream_k(a, b, c, partials=partials)
        return
    # Fewer tiles than multiprocessors: with equal parts all are busy. More: parts would cost a detour through memory
    # for every tile, pieces only for those of the last wave.
    few = _tiles(m, n, tiling_for(m, n)) < multiprocessors(a)
    (split_k if few else stream_k)(a, b, c, partials=partials)


def tiling_for(m: int, n: int) -> Tiling:
    """The smallest tile that holds a short side of c."""
    rows = next((rows for rows in (16, 32, 64) if m <= rows), 128)
    columns = next((columns for columns in (16, 32, 64) if n <= columns), 128)
    if rows < 128 and columns < 128:
        return TILINGS[64, 64]
    return TILINGS[rows, columns]


def launch_split(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, tiling: Tiling, parts: int
) -> None:
    """``split_k`` with another tiling and up to ``parts`` parts. Raises ``ValueError`` where the workspace does not
    hold them."""
    m, n, k = extents(a, b, c)
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
    multiply."""
    m, n, k = extents(a, b, c)
    steps = max(1, ceil_div(k, tiling.line_bytes // a.element_size()))
    share = shared_out(_tiles(m, n, tiling), steps, blocks, partials.numel() // tiling.elements)
    types, ranges = f"{c_type(a)}, {c_type(c)}", (GROUP, share.tiles, share.whole, share.pieces)
    function = STREAM_K.function(f"matmul_ragged_stream_k<{types}, {tiling.parameters}, {access(a, b)}>")
    shape, strides = (m, n, k), (*a.stride(), *b.stride(), *c.stride())
    values = (a, b, c, partials, *shape, *strides, *ranges, aligned(c))
    function((share.blocks,), (tiling.threads,), values, tiling.shared_bytes)
    if share.shared:
        join = STREAM_K.function(f"matmul_ragged_join_runs<{c_type(c)}, {tiling.rows}, {tiling.columns}>")
        values = (partials, c, m, n, *c.stride(), *ranges, steps)
        join((share.shared, ceil_div(tiling.elements, JOINED)), (JOIN_WARPS * 32,), values)


def wgmma_stream_k(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor) -> None:
    """``stream_k`` on Hopper's tensor cores; deterministic. Raises ``ValueError`` for shapes that do not multiply and
    for operands that the copy engine does not take."""
    m, n, k = extents(a, b, c)
    if c.numel() == 0 or k == 0:
        c.zero_()
        return
    require(not hopper_refuses(a, b), hopper_refuses(a, b))
    require(n == 1 or c.stride(1) == 1, "the rows of c must be dense")
    elements, steps = hopper.TILE_M * hopper.TILE_N, ceil_div(k, hopper.LINE // a.element_size())
    tiles = ceil_div(m, hopper.TILE_M) * ceil_div(n, hopper.TILE_N)
    share = shared_out(tiles, steps, multiprocessors(a), partials.numel() // elements)
    ranges = (GROUP, share.tiles, share.whole, share.pieces)
    by_columns, line = hopper.by_columns(b), hopper.LINE // a.element_size()
    b_map = tensor_map(b.T, (hopper.TILE_N, line)) if by_columns else tensor_map(b, (line, line))
    function = WGMMA_STREAM_K.function(f"matmul_ragged_wgmma_stream_k<F16, {str(by_columns).lower()}>")
    values = (tensor_map(a, (hopper.TILE_M, line)), b_map, c, partials, m, n, k, c.stride(0), *ranges)
    function((share.blocks,), (3 * hopper.WARPGROUP,), values, hopper.SHARED_BYTES)
    if share.shared:
        join = WGMMA_STREAM_K.function("matmul_ragged_join_wgmma")
        values = (partials, c, m, n, c.stride(0), *ranges, steps)
        join((share.shared, ceil_div(elements, JOINED)), (JOIN_WARPS * 32,), values)


def hopper_refuses(a: torch.Tensor, b: torch.Tensor) -> str:
    """Why the copy engine cannot take these operands; nothing if it can."""
    if a.dtype is not torch.float16:
        return f"the operands are {a.dtype}, not float16"
    for name, matrix in (("a", a), ("b", b.T if hopper.by_columns(b) else b)):
        found = refusal(matrix.data_ptr(), matrix.element_size(), matrix.shape[1], matrix.stride())
        if found:
            return f"the copy engine cannot take {name}: {found}"
    return ""


def _tiles(m: int, n: int, tiling: Tiling) -> int:
    return ceil_div(m, tiling.rows) * ceil_div(n, tiling.columns)
