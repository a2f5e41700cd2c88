"""c[m, n] = a[m, k] b[k, n] where tiles do not fill the device: split_k, stream_k, and the choice between them."""

from __future__ import annotations

from typing import Any

import torch
import triton

from kernels_triton import _operands as operands
from kernels_triton._realign import by_rows, realigned
from kernels_triton.matmul_ragged import rule
from kernels_triton.matmul_ragged import split_k as _split_k
from kernels_triton.matmul_ragged import stream_k as _stream_k
from kernels_triton.matmul_ragged.rule import Plan, Tile
from pytest_roofline.launch import ceil_div, require
from pytest_roofline.operands import matmul_extents

JOINED = 4096  # elements that a program joins, of all parts that it loads together


def split_k(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor, packed: torch.Tensor) -> None:
    """k in equal parts, as many as fill the device. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, k = _extents(a, b, c)
    if c.numel():
        sms, size = operands.multiprocessors(a), a.element_size()
        plan = rule.split(m, n, k, rule.small_tile(m, n, size, sms), sms, rule.PARTS[size])
        _launch(a, b, c, partials, packed, plan)


def stream_k(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor, packed: torch.Tensor
) -> None:
    """Whole tiles as long as every program has one, then equal numbers of steps over k. Raises ``ValueError`` for
    shapes that do not multiply."""
    m, n, k = _extents(a, b, c)
    if c.numel():
        sms, size = operands.multiprocessors(a), a.element_size()
        tile = min(rule.large_tile(m, n, size, sms), rule.small_tile(m, n, size, sms), key=lambda tile: tile.elements)
        _launch(a, b, c, partials, packed, rule.stream(m, n, k, tile, sms))


def chosen(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor, packed: torch.Tensor) -> None:
    """Whichever :mod:`rule` says. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, k = _extents(a, b, c)
    if c.numel():
        plan = rule.chosen(m, n, k, a.element_size(), operands.multiprocessors(a))
        _launch(a, b, c, partials, packed, plan)


def _extents(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[int, int, int]:
    """m, n and k. Raises ``ValueError`` for shapes that do not multiply, ``TypeError`` for operands of 8 bits."""
    extents = matmul_extents(a, b, c)
    if a.element_size() == 1:
        raise TypeError(f"there is no rule for how to share out k of {a.dtype}")
    return extents


def _launch(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, packed: torch.Tensor, plan: Plan
) -> None:
    if a.dtype is torch.float32:
        rows = c.shape[0]
        a, b, c = by_rows(a, b, c, packed)
        if c.shape[0] != rows:
            plan = plan._replace(tile=plan.tile.turned())
    else:
        # Also where b is read only once: element by element that takes longer than a copy and descriptors together.
        a, b = realigned(a, b, packed)
    described = operands.described(a, b)
    if plan.parts:
        split(a, b, c, partials, plan.tile, plan.parts, described)
    else:
        stream(a, b, c, partials, plan.tile, plan.whole, plan.pieces, described)


def split(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, tile: Tile, parts: int, described: bool
) -> None:
    """Launch :mod:`split_k` with up to ``parts`` parts, as far as the workspace holds them."""
    m, n, k = matmul_extents(a, b, c)
    numbers, units = operands.scaled(a, b, c)
    tiles, blocks = tile.count(m, n), _blocks(tile)
    depth = ceil_div(k, tile.block_k)
    steps = max(1, ceil_div(depth, max(1, min(parts, partials.numel() // (tiles * tile.elements)))))
    parts = max(1, ceil_div(depth, steps))
    left, right = operands.for_kernel(a, b, tile.block_m, tile.block_n, tile.block_k, described)
    out = operands.result_descriptor(c, tile.block_m, tile.block_n) if described and parts == 1 else None
    _split_k._matmul_ragged_split_k[(tiles, parts)](
        left, right, out, c, partials, *numbers[:3], steps, *numbers[3:], **blocks, BLOCK_K=tile.block_k, UNITS=units,
        WHOLE=k % tile.block_k == 0, DESCRIBED=described, B_BY_COLUMNS=b.stride(0) == 1, DIRECT=parts == 1,
        CHAINED=_chained() and parts > 1, num_warps=tile.num_warps, num_stages=tile.num_stages,
    )  # fmt: skip
    if parts > 1:
        at_once, band = _band(tile, parts)
        _split_k._matmul_ragged_join[(tiles, ceil_div(tile.elements, band))](
            partials, c, m, n, parts, *c.stride(), **blocks, BAND=band, AT_ONCE=at_once, **_after()
        )


def stream(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    partials: torch.Tensor,
    tile: Tile,
    whole: int,
    pieces: int,
    described: bool,
) -> None:
    """Launch :mod:`stream_k`: ``whole`` tiles undivided, the others in up to ``pieces`` pieces.

    Raises ``ValueError`` where the workspace does not hold two tiles of c.
    """
    m, n, k = matmul_extents(a, b, c)
    numbers, units = operands.scaled(a, b, c)
    tiles, blocks = tile.count(m, n), _blocks(tile)
    steps = max(1, ceil_div(k, tile.block_k))
    whole = tiles if steps == 1 else whole  # one step cannot be shared, and Triton 3.6 does not compile that it is
    pieces = min(pieces, (tiles - whole) * steps, partials.numel() // (2 * tile.elements))
    require(pieces > 0 or tiles == whole, "the workspace does not hold two tiles of c")
    programs = max(min(tile.resident * operands.multiprocessors(a), whole), pieces)
    left, right = operands.for_kernel(a, b, tile.block_m, tile.block_n, tile.block_k, described)
    alone = described and tile.resident == 1  # a descriptor's store needs shared memory that others' loads do not leave
    out = operands.result_descriptor(c, tile.block_m, tile.block_n) if alone else None
    _stream_k._matmul_ragged_stream_k[(programs,)](
        left, right, out, c, partials, *numbers[:3], whole, pieces, *numbers[3:], **blocks, BLOCK_K=tile.block_k,
        UNITS=units, WHOLE=k % tile.block_k == 0, DESCRIBED=described, B_BY_COLUMNS=b.stride(0) == 1,
        CHAINED=_chained() and tiles > whole, num_warps=tile.num_warps, num_stages=tile.num_stages,
    )  # fmt: skip
    if tiles > whole:
        # A tile meets the pieces that lie within it, and one more at each end.
        at_once, band = _band(tile, pieces // (tiles - whole) + 2)
        _stream_k._matmul_ragged_join_pieces[(tiles - whole, ceil_div(tile.elements, band))](
            partials, c, m, n, whole, steps, pieces, *c.stride(), **blocks, BAND=band, AT_ONCE=at_once, **_after()
        )


def _blocks(tile: Tile) -> dict[str, int]:
    return {"BLOCK_M": tile.block_m, "BLOCK_N": tile.block_n, "GROUP": tile.group}


def _band(tile: Tile, parts: int) -> tuple[int, int]:
    """Parts that a program of the second kernel loads together, and elements of each."""
    at_once = min(64, triton.next_power_of_2(parts))
    return at_once, min(JOINED // at_once, tile.elements)


def _chained() -> bool:
    """Whether the second kernel may take its places while the first still runs, as from Hopper on.

    The interpreter has no such thing, and Triton 3.4 does not compile its own functions for it.
    """
    return operands.accelerated() and not triton.knobs.runtime.interpret and _TRITON >= (3, 5)


_TRITON = tuple(int(part) for part in triton.__version__.split(".")[:2])


def _after() -> dict[str, Any]:
    return {"CHAINED": True, "launch_pdl": True} if _chained() else {"CHAINED": False}
