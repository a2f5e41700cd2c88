"""The same on Hopper's tensor cores, by the tiles and roles of the product that fills a device."""

from __future__ import annotations

from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div, misalignment, require
from pytest_roofline.tensor_map import tensor_map

from .._mma import extents
from ..matmul_tensor import align
from ..matmul_tensor.hopper import ARCH, LINE, SHARED_BYTES, TILE_M, TILE_N, WARPGROUP, by_columns
from .sharing import GROUP, JOIN_WARPS, JOINED, multiprocessors, shared_out

STREAM_K = Source(Path(__file__).with_name("wgmma_stream_k.cu"), arch=ARCH)


def stream_k(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor, packed: torch.Tensor
) -> None:
    """The same number of steps over k for every SM, tiles of 128 x 256; f16 in, f32 sums, f16 out.

    Raises ``ValueError`` for shapes that do not multiply, and where rows are not dense or a workspace is too small.
    """
    m, n, k = extents(a, b, c)
    if c.numel() == 0 or k == 0:
        c.zero_()
        return
    require(n == 1 or c.stride(1) == 1, "the rows of c must be dense")
    a, b, _ = align.operands(a, b, packed)
    tiles, steps = ceil_div(m, TILE_M) * ceil_div(n, TILE_N), ceil_div(k, LINE // a.element_size())
    share = shared_out(tiles, steps, multiprocessors(a), partials.numel() // (TILE_M * TILE_N))
    ranges = (GROUP, share.tiles, share.whole, share.pieces)
    line, columns = LINE // a.element_size(), by_columns(b)
    maps = tensor_map(a, (TILE_M, line)), tensor_map(b.T, (TILE_N, line)) if columns else tensor_map(b, (line, line))
    pairs = c.stride(0) % 2 == 0 and misalignment(c, 4) == 0
    function = STREAM_K.function(f"matmul_ragged_wgmma_stream_k<F16, {str(columns).lower()}>")
    values = (*maps, c, partials, m, n, k, c.stride(0), pairs, *ranges)
    function((share.blocks,), (3 * WARPGROUP,), values, SHARED_BYTES)
    if share.shared:
        join, values = STREAM_K.function("matmul_ragged_join_wgmma"), (partials, c, m, n, c.stride(0), *ranges, steps)
        join((share.shared, ceil_div(TILE_M * TILE_N, JOINED)), (JOIN_WARPS * 32,), values)
