"""c[m, n] = a[m, k] b[k, n] where tiles do not fill the device, on the tensor cores, in CUDA C++."""

from __future__ import annotations

from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_type, ceil_div, require

from .._mma import Tiling, access, aligned, extents

_HERE = Path(__file__).parent
SPLIT_K = Source(_HERE / "split_k.cu")
STREAM_K = Source(_HERE / "stream_k.cu")

JOIN_WARPS, JOINED = 8, 128  # warps of a block that joins, and elements of one of them
GROUP = 8  # rows of tiles that are walked column by column
PARTS = 256  # into which k is split at most
CPU_MULTIPROCESSORS = 4  # few, so that small matrices are shared out on a CPU, too

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
    m, n, k = extents(a, b, c)
    if c.numel():
        tiling = tiling_for(m, n)
        tiles, steps = _tiles(m, n, tiling), ceil_div(k, tiling.line_bytes // a.element_size())
        parts = min(2 * multiprocessors(a) // tiles, steps // 2, PARTS, partials.numel() // (tiles * tiling.elements))
        launch_split(a, b, c, partials, tiling, max(1, parts))


def stream_k(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor) -> None:
    """The same number of steps over k for every multiprocessor; deterministic. Raises ``ValueError`` for shapes that do
    not multiply."""
    m, n, _ = extents(a, b, c)
    if c.numel():
        tiling = tiling_for(m, n)
        launch_stream(a, b, c, partials, tiling, min(multiprocessors(a), partials.numel() // (2 * tiling.elements)))


def chosen(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor) -> None:
    """Whichever fits the shape. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, _ = extents(a, b, c)
    # Fewer tiles than multiprocessors: with equal parts all are busy. More: parts would cost a detour through memory for
    # every tile, pieces only for those of the last wave.
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
        share = min(JOIN_WARPS, 1 << (parts - 1).bit_length())
        blocks = ceil_div(tiling.elements * share, JOIN_WARPS * JOINED)
        join = SPLIT_K.function(f"matmul_ragged_join<{types}, {tiling.rows}, {tiling.columns}>")
        values = (partials, c, m, n, *c.stride(), GROUP, parts, share)
        join((tiles, blocks), (JOIN_WARPS * 32,), values)


def launch_stream(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, tiling: Tiling, programs: int
) -> None:
    """``stream_k`` with another tiling and up to ``programs`` blocks. Raises ``ValueError`` where the workspace does
    not hold two tiles of each."""
    m, n, k = extents(a, b, c)
    tiles, steps = _tiles(m, n, tiling), max(1, ceil_div(k, tiling.line_bytes // a.element_size()))
    require(2 * programs * tiling.elements <= partials.numel(), f"{programs} blocks need more workspace")
    whole = max(0, tiles // programs - (tiles % programs != 0)) * programs
    pieces = min(programs, (tiles - whole) * steps)
    types, ranges = f"{c_type(a)}, {c_type(c)}", (GROUP, tiles, whole, max(1, pieces))
    function = STREAM_K.function(f"matmul_ragged_stream_k<{types}, {tiling.parameters}, {access(a, b)}>")
    shape, strides = (m, n, k), (*a.stride(), *b.stride(), *c.stride())
    values = (a, b, c, partials, *shape, *strides, *ranges, aligned(c))
    function((programs if whole else pieces,), (tiling.threads,), values, tiling.shared_bytes)
    if tiles > whole:
        parts = f"{tiling.rows}, {tiling.columns}, {tiling.line_bytes}"
        join = STREAM_K.function(f"matmul_ragged_join_pieces<{types}, {parts}>")
        blocks = ceil_div(tiling.elements, JOINED)
        join((tiles - whole, blocks), (JOIN_WARPS * 32,), (partials, c, m, n, k, *c.stride(), *ranges))


def multiprocessors(tensor: torch.Tensor) -> int:
    """Of the tensor's device."""
    if tensor.device.type == "cpu":
        return CPU_MULTIPROCESSORS
    return int(torch.cuda.get_device_properties(tensor.device).multi_processor_count)


def _tiles(m: int, n: int, tiling: Tiling) -> int:
    return ceil_div(m, tiling.rows) * ceil_div(n, tiling.columns)
