"""total[0] = sum of a dense vector, in CUDA C++. The accumulator's type is that of ``total``.

All launchers raise ``ValueError`` unless ``x`` is dense and ``total`` one element, ``TypeError`` unless that is of the
type that torch adds up elements of ``x`` in, or a wider one (``operands.require_sum``).
"""

import functools
from pathlib import Path

import torch

from pytest_roofline.capability import runs_on
from pytest_roofline.launch import Source, c_type, ceil_div, misalignment, require
from pytest_roofline.operands import require_positive, require_sum, require_workspace
from pytest_roofline.remembered import remembered

BLOCK = 256
LAST_BLOCK = 1024  # threads that add up the partial sums
PACK = 16  # bytes of one vector access
CHAIN = 1 << 23  # half of the n at which n u = 1: a longer chain of f32 additions has no error bound

_HERE = Path(__file__).parent
ATOMIC = Source(_HERE / "atomic.cu")
SHARED_INTERLEAVED = Source(_HERE / "shared_interleaved.cu")
SHARED_SEQUENTIAL = Source(_HERE / "shared_sequential.cu")
GRID_STRIDE = Source(_HERE / "grid_stride.cu")
WARP_SHUFFLE = Source(_HERE / "warp_shuffle.cu")
VECTORISED = Source(_HERE / "vectorised.cu")
BUTTERFLY = Source(_HERE / "butterfly.cu")
TWO_STAGE = Source(_HERE / "two_stage.cu")


def atomic(x: torch.Tensor, total: torch.Tensor) -> None:
    """One atomic addition per element.

    Raises ``ValueError`` as well for more than 2^23 elements in a floating-point chain.
    """
    require(not total.is_floating_point() or x.numel() <= CHAIN, f"one chain of more than {CHAIN} f32 additions")
    types, n = _types(x, total), x.numel()
    total.zero_()
    ATOMIC.function(f"sum_atomic<{types}>")((ceil_div(n, BLOCK),), (BLOCK,), (x, n, total))


def shared_interleaved(x: torch.Tensor, total: torch.Tensor) -> None:
    """One element per thread, one atomic addition per block."""
    types, n = _types(x, total), x.numel()
    total.zero_()
    function = SHARED_INTERLEAVED.function(f"sum_shared_interleaved<{types}, {BLOCK}>")
    function((ceil_div(n, BLOCK),), (BLOCK,), (x, n, total))


def shared_sequential(x: torch.Tensor, total: torch.Tensor) -> None:
    """As ``shared_interleaved`` with neighbouring active threads."""
    types, n = _types(x, total), x.numel()
    total.zero_()
    function = SHARED_SEQUENTIAL.function(f"sum_shared_sequential<{types}, {BLOCK}>")
    function((ceil_div(n, BLOCK),), (BLOCK,), (x, n, total))


def grid_stride(x: torch.Tensor, total: torch.Tensor, *, max_blocks: int) -> None:
    """Up to ``max_blocks`` blocks, at least one, each ending in one atomic addition. Raises ``ValueError`` as well for
    fewer."""
    types, n = _types(x, total), x.numel()
    require_positive("sum", "max_blocks", max_blocks)
    total.zero_()
    grid = (min(ceil_div(n, BLOCK), max_blocks),)
    GRID_STRIDE.function(f"sum_grid_stride<{types}, {BLOCK}>")(grid, (BLOCK,), (x, n, total))


def warp_shuffle(x: torch.Tensor, total: torch.Tensor, *, max_blocks: int) -> None:
    """As ``grid_stride`` with shuffles in place of shared memory."""
    types, n = _types(x, total), x.numel()
    require_positive("sum", "max_blocks", max_blocks)
    total.zero_()
    grid = (min(ceil_div(n, BLOCK), max_blocks),)
    WARP_SHUFFLE.function(f"sum_warp_shuffle<{types}, {BLOCK}>")(grid, (BLOCK,), (x, n, total))


def vectorised(x: torch.Tensor, total: torch.Tensor, *, max_blocks: int) -> None:
    """As ``grid_stride`` with 16-byte loads."""
    types, (blocks, head) = _types(x, total), _packs(x, max_blocks)
    total.zero_()
    VECTORISED.function(f"sum_vectorised<{types}, {BLOCK}>")((blocks,), (BLOCK,), (x, x.numel(), head, total))


def butterfly(x: torch.Tensor, total: torch.Tensor, *, max_blocks: int) -> None:
    """As ``vectorised`` with the sum of a block in all of its threads."""
    types, (blocks, head) = _types(x, total), _packs(x, max_blocks)
    total.zero_()
    BUTTERFLY.function(f"sum_butterfly<{types}, {BLOCK}>")((blocks,), (BLOCK,), (x, x.numel(), head, total))


@remembered
def two_stage(x: torch.Tensor, total: torch.Tensor, *, partials: torch.Tensor) -> None:
    """At most one block per element of the workspace ``partials``, then one block over their sums; deterministic.

    Raises ``ValueError`` as well unless ``partials`` is dense, ``TypeError`` unless it is of the type of ``total``.
    """
    types = _types(x, total)
    require_workspace("partials", partials, 1, total.dtype)
    blocks, head = _packs(x, partials.numel())
    sums = total if blocks == 1 else partials
    TWO_STAGE.function(f"sum_blocks<{types}, {BLOCK}>")((blocks,), (BLOCK,), (x, x.numel(), head, sums))
    if blocks > 1:
        last = TWO_STAGE.function(f"sum_partials<{c_type(total)}>", chained=_has_chains(x.get_device()))
        last((1,), (LAST_BLOCK,), (partials, blocks, total))


@functools.cache
def _has_chains(device: int) -> bool:
    return device >= 0 and runs_on("sm_90", torch.cuda.get_device_capability(device))


def _types(x: torch.Tensor, total: torch.Tensor) -> str:
    require_sum(x, total)
    return f"{c_type(x)}, {c_type(total)}"


def _packs(x: torch.Tensor, max_blocks: int) -> tuple[int, int]:
    """Blocks that give every thread four 16-byte packs, up to ``max_blocks``; elements before the first aligned one."""
    require_positive("sum", "max_blocks", max_blocks)
    head = min(x.numel(), -misalignment(x, PACK) % PACK // x.element_size())
    packs = (x.numel() - head) * x.element_size() // PACK
    return max(1, min(ceil_div(packs, 4 * BLOCK), max_blocks)), head
