"""What the operations on rows share: their ladder, its depths, and the shapes that reach each of its kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_roofline.contract import Buffer, Kernel, Memory, Traffic
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape

DTYPES = ("f32", "f16", "bf16")
UNFUSED = ("f32",)  # what the rung shows, the row read once more per kernel, does not depend on the format
TILE = (2, 64)  # what is drawn stays small: a few rows, of one warp, of one and of several words per lane
UNFUSED_THREADS, LOOPED_THREADS = 256, 512  # the latter for long rows
CHUNK = 256  # words of a chain in the CUDA kernels that sum up a row of any length
HELD = 8192  # elements of a row that registers hold, also where each has a load of its own
LOOPED_SHARE = 64  # elements of a thread, at most, where fewer threads do: eight words of eight
TREE = 10  # levels over the 1024 threads that a block has at most

# Rows of a warp, of a block, longer than registers hold; rows of single elements; empty in either extent.
COUNTED = ("3x64", "5x33", "3x40.o1", "3x96.p104", "2x4096", "1x9001", "1x33000", "0x7", "3x0")
FULL = (
    "32x32",
    "1024x1024",
    "131072x512",
    "32768x2048",
    "16384x4096",
    "8192x8192",
    "4096x16384",
    "2048x32768",
    "1024x65536",
    "512x131072",
    "8191x8191",
    "8192x8000.p8224",
    "8192x8192.o1",
)


def compulsory(shape: Shape, dtype: DType, weights: int) -> Traffic:
    """Each element of ``x`` read and of ``y`` written once, and so many rows of weights read once."""
    rows, columns = shape.dims
    size = dtype.operand.itemsize
    return Traffic(size * (rows * columns + weights * columns), size * rows * columns)


def reads(times: int, shape: Shape, dtype: DType) -> tuple[Traffic, ...]:
    """A kernel that reads ``x`` so many times, at least from L2."""
    matrix = shape.size * dtype.operand.itemsize
    return (Traffic(times * matrix, matrix, Memory.L2),)


# Depths of the sum over a row: chains in each thread, then a tree.
def unfused_depth(dims: tuple[int, ...]) -> int:
    """A chain of up to ``CHUNK`` words for each of up to eight elements of a word; the chains, then threads."""
    each = -(-dims[1] // UNFUSED_THREADS)
    return min(each, CHUNK) + 8 + -(-each // CHUNK) + TREE


def fused_depth(dims: tuple[int, ...]) -> int:
    """Up to 32 elements of a thread, a rescaling; a row that does not fit goes through the looped kernel."""
    return 32 + TREE + 6 if dims[1] <= HELD else looped_depth(dims)


def looped_depth(dims: tuple[int, ...]) -> int:
    """Each 16-byte word of a thread adds its elements, and costs one rescaling: an exponential of at most 2 units in
    the last place (4 u), a product and a sum (Welford's update of the moments: no more). Then a rescaled tree."""
    return 6 * max(min(dims[1], LOOPED_SHARE), -(-dims[1] // LOOPED_THREADS)) + 8 + TREE + 6


def cluster_depth(dims: tuple[int, ...]) -> int:
    """Up to 64 elements of a thread, a tree over its warp, up to four warps' sums with a rescaling each, a tree."""
    return 64 + 5 + 6 * 4 + 5


def triton_depth(dims: tuple[int, ...]) -> int:
    """Up to 64 elements of a lane, or a chain over the blocks of a row with a rescaling each; then a tree. NumPy's
    pairwise sums in the interpreter have leaves of 16."""
    return max(64, 6 * (-(-dims[1] // 1024)) + 6) + 16


def library_depth(dims: tuple[int, ...]) -> int:
    """No library promises an order; none adds a row of a million elements in fewer than 1024 chains."""
    return min(dims[1], 1024 + dims[1] // 1024) + 6


def ladder(
    operation: str,
    library: str,
    *,
    scratch: Sequence[str],
    options: Mapping[str, Any],
    looped: Mapping[str, int],
    unfused_reads: int,
    triton_workspace: Callable[[Shape, DType], tuple[Buffer, ...]] | None = None,
) -> tuple[Kernel, ...]:
    """The kernels of one operation: three rungs in each language, and torch eager and compiled beside them.

    ``scratch`` names the unfused kernels' workspace of one f32 per row, ``options`` go to every launcher, ``looped`` to
    the looped Triton kernel, ``triton_workspace`` is that of the fused one.
    """

    def workspace(shape: Shape, dtype: DType) -> tuple[Buffer, ...]:
        return tuple(Buffer(name, shape.dims[0]) for name in scratch)

    def unfused(backend: str, extra: Mapping[str, Any], depth: Any) -> Kernel:
        return Kernel(
            backend,
            "unfused",
            f"kernels_{backend}.{operation}:unfused",
            DTYPES,
            options={**options, **extra},
            timed_dtypes=UNFUSED,
            tile=TILE,
            workspace=workspace,
            model=lambda shape, dtype: reads(unfused_reads, shape, dtype),
            depth=depth,
        )

    def fused(backend: str, variant: str, extra: Mapping[str, Any], depth: Any, **more: Any) -> Kernel:
        launcher = f"kernels_{backend}.{operation}:{variant}"
        return Kernel(backend, variant, launcher, DTYPES, options={**options, **extra}, tile=TILE, depth=depth, **more)

    def peer(variant: str) -> Kernel:
        launcher = f"suite.peers.{operation}:torch_{variant}"
        return Kernel("torch", variant, launcher, ("f32",), depth=library_depth, peer=True)

    return (
        unfused("triton", {"block": 1024}, triton_depth),
        fused("triton", "fused", {}, triton_depth, best=True, workspace=triton_workspace),
        fused("triton", "fused_looped", looped, triton_depth),
        unfused("cuda", {}, unfused_depth),
        fused("cuda", "fused", {}, fused_depth, best=True),
        fused("cuda", "fused_looped", {}, looped_depth),
        peer(library),
        peer("compile"),
    )
