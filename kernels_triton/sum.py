"""total[0] = sum of a dense vector. The accumulator's type is that of ``total``.

All launchers raise ``ValueError`` unless ``x`` is dense and ``total`` one element, ``TypeError`` unless that is of the
type that torch adds up elements of ``x`` in, or a wider one (``operands.require_sum``).
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from kernels_triton._launch import launch
from pytest_roofline.launch import ceil_div, misalignment
from pytest_roofline.operands import require_positive, require_sum, require_workspace
from pytest_roofline.remembered import remembered


@triton.jit
def _sum_atomic(x_ptr, n, total_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0).to(total_ptr.dtype.element_ty)
    tl.atomic_add(total_ptr, tl.sum(x, axis=0), sem="relaxed")


@triton.jit
def _grid_sum(x_ptr, n, ACCUMULATOR: tl.constexpr, BLOCK: tl.constexpr, EVICTION: tl.constexpr, PACKS: tl.constexpr):
    # A program walks over blocks a grid apart and adds them elementwise; lanes meet only once, at the end. Only the
    # block that is cut off compares with n, in the program whose turn it is: 64.2 in place of 66.3 us (2^26 f32, H200).
    # Where the vector starts anywhere and an element is an access, those loops take more registers than they save
    # comparisons: 23.5 us at 2^24, and 18.9 with a comparison in every block.
    program = tl.program_id(0).to(tl.int64)
    programs = tl.num_programs(0).to(tl.int64)
    sums = tl.zeros((BLOCK,), dtype=ACCUMULATOR)
    if PACKS:
        blocks = n // BLOCK
        for block in range(program, blocks, programs):
            x = tl.load(x_ptr + block * BLOCK + tl.arange(0, BLOCK), eviction_policy=EVICTION)
            sums += x.to(ACCUMULATOR)
        if blocks % programs == program:
            offsets = tl.cast(blocks, tl.int64) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + offsets, mask=offsets < n, other=0, eviction_policy=EVICTION)
            sums += x.to(ACCUMULATOR)
    else:
        for start in range(program * BLOCK, n, programs * BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + offsets, mask=offsets < n, other=0, eviction_policy=EVICTION)
            sums += x.to(ACCUMULATOR)
    return tl.sum(sums, axis=0)


@triton.jit
def _sum_grid_stride(x_ptr, n, total_ptr, BLOCK: tl.constexpr, PACKS: tl.constexpr):
    total = _grid_sum(x_ptr, n, total_ptr.dtype.element_ty, BLOCK, "evict_first", PACKS)
    tl.atomic_add(total_ptr, total, sem="relaxed")


@triton.jit
def _sum_blocks(x_ptr, n, partials_ptr, BLOCK: tl.constexpr, EVICTION: tl.constexpr, PACKS: tl.constexpr):
    total = _grid_sum(x_ptr, n, partials_ptr.dtype.element_ty, BLOCK, EVICTION, PACKS)
    tl.store(partials_ptr + tl.program_id(0), total)


@triton.jit
def _sum_partials(partials_ptr, count, total_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    partials = tl.load(partials_ptr + offsets, mask=offsets < count, other=0)
    tl.store(total_ptr, tl.sum(partials, axis=0))


def atomic(x: torch.Tensor, total: torch.Tensor, *, block: int) -> None:
    """One atomic addition per block of elements."""
    require_sum(x, total)
    total.zero_()
    if x.numel():
        _sum_atomic[(ceil_div(x.numel(), block),)](x, x.numel(), total, BLOCK=block)


def grid_stride(x: torch.Tensor, total: torch.Tensor, *, block: int, num_warps: int, max_programs: int) -> None:
    """Up to ``max_programs`` programs, at least one, and as many atomic additions. Raises ``ValueError`` as well for
    fewer."""
    require_sum(x, total)
    require_positive("sum", "max_programs", max_programs)
    total.zero_()
    if x.numel():
        programs = min(ceil_div(x.numel(), block), max_programs)
        _sum_grid_stride[(programs,)](x, x.numel(), total, BLOCK=block, PACKS=_in_packs(x), num_warps=num_warps)


class _Stage(NamedTuple):
    """How the first of two stages is launched."""

    block: int
    eviction: str


# From the suite's own comparisons on an H200: the larger block and the hint save 15 % of 22 us at 2^24 unaligned f32,
# nothing that shows at 2^28, and cost 16 % at 2^20 and 10 % at 2^10.
_SMALL, _LARGE = _Stage(4096, ""), _Stage(8192, "evict_first")
_SMALL_ELEMENTS = 1 << 22


@remembered
def two_stage(x: torch.Tensor, total: torch.Tensor, *, num_warps: int, partials: torch.Tensor) -> None:
    """At most one program per element of the workspace ``partials``, then one over their sums; deterministic.

    Raises ``ValueError`` as well unless ``partials`` is dense, ``TypeError`` unless it is of the type of ``total``.
    """
    require_sum(x, total)
    require_workspace("partials", partials, 1, total.dtype)
    stage = _SMALL if x.numel() <= _SMALL_ELEMENTS else _LARGE
    programs = max(1, min(ceil_div(x.numel(), stage.block), partials.numel()))
    sums = total if programs == 1 else partials
    options = {"BLOCK": stage.block, "EVICTION": stage.eviction, "PACKS": _in_packs(x), "num_warps": num_warps}
    launch(_sum_blocks, (programs,), x, x.numel(), sums, **options)
    if programs > 1:
        width = triton.next_power_of_2(partials.numel())
        launch(_sum_partials, (1,), partials, programs, total, BLOCK=width, num_warps=num_warps)


def _in_packs(x: torch.Tensor) -> bool:
    return misalignment(x, 16) == 0
