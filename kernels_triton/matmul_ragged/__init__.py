"""c[m, n] = a[m, k] b[k, n] where tiles do not fill the device: split_k, stream_k, and the choice between them."""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton

from kernels_triton import _operands as operands
from kernels_triton._realign import realigned
from kernels_triton.matmul_ragged import split_k as _split_k
from kernels_triton.matmul_ragged import stream_k as _stream_k
from pytest_roofline.launch import ceil_div, require

CHAINED = False


def chain():
    return {"CHAINED": CHAINED, **({"launch_pdl": True} if CHAINED else {})}


JOINED = 4096  # elements that a program joins, of all parts that it loads together


class Tile(NamedTuple):
    """What a program computes at once, and how."""

    block_m: int
    block_n: int
    block_k: int
    num_warps: int
    num_stages: int
    group: int = 8

    @property
    def elements(self) -> int:
        return self.block_m * self.block_n

    def count(self, m: int, n: int) -> int:
        return ceil_div(m, self.block_m) * ceil_div(n, self.block_n)


def split_k(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor, packed: torch.Tensor) -> None:
    """k in equal parts, as many as fill the device. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, k = operands.extents(a, b, c)
    if c.numel():
        a, b = _aligned(a, b, packed)
        tile = tile_of(m, n, a)
        parts = ceil_div(2 * operands.multiprocessors(a), tile.count(m, n))
        split(a, b, c, partials, tile, max(1, min(parts, ceil_div(k, tile.block_k))), operands.described(a, b))


def stream_k(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor, packed: torch.Tensor
) -> None:
    """One program per SM, all with the same number of steps over k. Raises ``ValueError`` for shapes that do not
    multiply."""
    m, n, _ = operands.extents(a, b, c)
    if c.numel():
        a, b = _aligned(a, b, packed)
        sms, tile = operands.multiprocessors(a), tile_of(m, n, a)
        whole = max(0, tile.count(m, n) // sms - 1) * sms
        stream(a, b, c, partials, tile, sms, whole, sms, operands.described(a, b))


def chosen(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, partials: torch.Tensor, packed: torch.Tensor) -> None:
    """Whichever fits the shape. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, _ = operands.extents(a, b, c)
    if c.numel():
        sms, tile = operands.multiprocessors(a), tile_of(m, n, a)
        # Fewer tiles than SMs: with equal parts all are busy. More: parts would cost a detour through memory for each
        # tile, pieces only for those of the last wave.
        (split_k if tile.count(m, n) < sms else stream_k)(a, b, c, partials=partials, packed=packed)


def _aligned(a: torch.Tensor, b: torch.Tensor, packed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Operands that wide loads can take; the ordinary cores want b by rows."""
    return realigned(a, b, packed, b_along_k=False if a.dtype is torch.float32 else None)


def tile_of(m: int, n: int, a: torch.Tensor) -> Tile:
    """The smallest tile that holds a short side of c."""
    block_m = min(128, max(16, triton.next_power_of_2(m)))
    block_n = min(128, max(16, triton.next_power_of_2(n)))
    if a.element_size() == 4:
        return Tile(min(64, block_m), min(64, block_n), 16, 4, 3)
    return Tile(block_m, block_n, 64, 4, 4)


def split(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, partials: torch.Tensor, tile: Tile, parts: int, described: bool
) -> None:
    """Launch :mod:`split_k` with up to ``parts`` parts, as far as the workspace holds them."""
    m, n, k = operands.extents(a, b, c)
    numbers, units = operands.scaled(a, b, c)
    tiles, blocks = tile.count(m, n), {"BLOCK_M": tile.block_m, "BLOCK_N": tile.block_n, "GROUP": tile.group}
    depth = ceil_div(k, tile.block_k)
    steps = max(1, ceil_div(depth, max(1, min(parts, partials.numel() // (tiles * tile.elements)))))
    parts = max(1, ceil_div(depth, steps))
    left, right = operands.for_kernel(a, b, tile.block_m, tile.block_n, tile.block_k, described)
    _split_k._matmul_ragged_split_k[(tiles, parts)](
        left, right, c, partials, *numbers[:3], steps, *numbers[3:], **blocks, BLOCK_K=tile.block_k, UNITS=units,
        WHOLE=k % tile.block_k == 0, DESCRIBED=described, B_BY_COLUMNS=b.stride(0) == 1, DIRECT=parts == 1,
        CHAINED=CHAINED, num_warps=tile.num_warps, num_stages=tile.num_stages,
    )  # fmt: skip
    if parts > 1:
        at_once = min(64, triton.next_power_of_2(parts))
        band = min(JOINED // at_once, tile.elements)
        _split_k._matmul_ragged_join[(tiles, ceil_div(tile.elements, band))](
            partials, c, m, n, parts, *c.stride(), **blocks, BAND=band, AT_ONCE=at_once, num_warps=4, **chain()
        )


def stream(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    partials: torch.Tensor,
    tile: Tile,
    programs: int,
    whole: int,
    shared: int,
    described: bool,
) -> None:
    """Launch :mod:`stream_k`: ``whole`` tiles undivided, the steps of the others shared out among up to ``programs``,
    as far as the workspace holds two tiles for each. Raises ``ValueError`` where it does not for one."""
    m, n, k = operands.extents(a, b, c)
    numbers, units = operands.scaled(a, b, c)
    tiles, blocks = tile.count(m, n), {"BLOCK_M": tile.block_m, "BLOCK_N": tile.block_n, "GROUP": tile.group}
    steps = max(1, ceil_div(k, tile.block_k))
    shared = min(shared, (tiles - whole) * steps, partials.numel() // (2 * tile.elements))
    require(shared > 0 or tiles == whole, "the workspace does not hold two tiles of c")
    programs = max(min(programs, whole), shared)
    left, right = operands.for_kernel(a, b, tile.block_m, tile.block_n, tile.block_k, described)
    _stream_k._matmul_ragged_stream_k[(programs,)](
        left, right, c, partials, *numbers[:3], whole, shared, *numbers[3:], **blocks, BLOCK_K=tile.block_k,
        UNITS=units, WHOLE=k % tile.block_k == 0, DESCRIBED=described, B_BY_COLUMNS=b.stride(0) == 1, CHAINED=CHAINED,
        num_warps=tile.num_warps, num_stages=tile.num_stages,
    )  # fmt: skip
    if tiles > whole:
        # A tile of so many steps meets so many pieces: all of them within it, and one at each end.
        pieces = shared // (tiles - whole) + 2
        at_once = min(64, triton.next_power_of_2(pieces))
        band = min(JOINED // at_once, tile.elements)
        _stream_k._matmul_ragged_join_pieces[(tiles - whole, ceil_div(tile.elements, band))](
            partials,
            c,
            m,
            n,
            whole,
            steps,
            shared,
            *c.stride(),
            **blocks,
            BAND=band,
            AT_ONCE=at_once,
            num_warps=4,
            **chain(),
        )
