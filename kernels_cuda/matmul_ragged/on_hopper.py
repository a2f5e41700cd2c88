"""The same on Hopper's tensor cores: operands by the copy engine, tiles fitted to the shape."""

from __future__ import annotations

import functools
from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_bool, ceil_div, require
from pytest_roofline.operands import matmul_extents, require_dtype
from pytest_roofline.tensor_map import tensor_map

from ..matmul_tensor import align
from ..matmul_tensor.hopper import ARCH, LONGEST, WARPGROUP, by_columns
from .fitted import LINE, STEP, Plan, Tile, plan
from .sharing import GROUP, JOIN_WARPS, JOINED, join_share, multiprocessors

FITTED = Path(__file__).with_name("wgmma_fitted.cu")


def fitted(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor, packed: torch.Tensor) -> None:
    """By the tile and the parts of k that :mod:`fitted` picks; f16 in, f32 sums, f16 out.

    Operands that the copy engine does not take are copied to ``packed``. Raises ``ValueError`` for shapes that do not
    multiply, and where a workspace is too small, ``TypeError`` for other formats.
    """
    m, n, k = matmul_extents(a, b, c)
    require_dtype("this product", torch.float16, a, c)
    require(max(m, n, k) <= LONGEST, f"the copy engine takes up to {LONGEST} rows and columns, not {max(m, n, k)}")
    if c.numel() == 0 or k == 0:
        c.zero_()
        return
    along_k = align.lies_along_k(b)
    launch(a, b, c, partials, packed, plan(m, n, k, along_k, multiprocessors(a), partials.numel()))


def launch(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, packed: torch.Tensor, how: Plan
) -> None:
    """``fitted`` by another plan, of matrices that are not empty.

    Raises ``ValueError`` where a workspace is too small.
    """
    a, b, _ = align.operands(a, b, packed)
    if how.turned:
        a, b, c = b.T, a.T, c.T
    m, n, k = matmul_extents(a, b, c)
    tile, along_k = how.tile, by_columns(b)
    clusters = tile.clusters(m, n)
    blocks = clusters * tile.cluster
    slots = blocks // tile.partners
    require(
        how.parts == 1 or how.parts * slots * tile.rows * tile.columns <= partials.numel(),
        f"{how.parts} parts need more workspace",
    )
    steps = ceil_div(k, STEP)
    require(how.parts * tile.partners <= steps, f"{steps} steps are fewer than {how.parts} x {tile.partners} parts")
    source, shared = _source(tile, along_k), f"Shared::{tile.shared}"
    # Blocks of a cluster each load their half of what they share.
    a_box = (tile.rows // (2 if tile.shared == "A" else 1), STEP)
    b_box = (tile.columns // (2 if tile.shared == "B" else 1), STEP) if along_k else (STEP, STEP)
    maps = tensor_map(a, a_box), tensor_map(b.T if along_k else b, b_box)
    function = source.function(f"matmul_ragged_wgmma_fitted<F16, {c_bool(along_k)}, {shared}, {tile.resident}>")
    at_once = multiprocessors(a) * tile.resident // tile.cluster
    whole = how.parts == 1 and tile.partners == 1
    grid = (min(clusters, at_once) * tile.cluster if whole else blocks, how.parts)
    stages = tile.stages(along_k)
    shared_bytes = stages * ((tile.rows + tile.b_lines(along_k)) * LINE + 16) + 1024
    values = (*maps, c, partials, m, n, k, *c.stride(), GROUP, clusters)
    function(grid, ((tile.warpgroups + 1) * WARPGROUP,), values, shared_bytes)
    if how.parts > 1:
        share = join_share(how.parts)
        join = source.function(f"matmul_ragged_join_fitted<{shared}>", chained=True)
        bands = ceil_div(tile.rows * tile.columns * share, JOIN_WARPS * JOINED)
        join((slots, bands), (JOIN_WARPS * 32,), (partials, c, m, n, *c.stride(), GROUP, how.parts, share))


@functools.cache
def _source(tile: Tile, along_k: bool) -> Source:
    defined = {
        "CONSUMERS": tile.warpgroups,
        "COLUMNS": tile.columns,
        "STAGES": tile.stages(along_k),
        "B_LINES": tile.b_lines(along_k),
        "PARTNERS": tile.partners,
    }
    options = [f"-DWGMMA_{name}={value}" for name, value in defined.items()]
    return Source(FITTED, [*options, "-DWGMMA_WITHOUT_BUFFERS"], arch=ARCH)
