"""y[n, m] = x[m, n] transposed, in CUDA C++, for any strides of both."""

from __future__ import annotations

import functools
from pathlib import Path

import torch

from pytest_roofline.l2 import streamed
from pytest_roofline.launch import Function, Source, c_bool, c_type, ceil_div
from pytest_roofline.operands import transpose_extents
from pytest_roofline.remembered import remembered

PACK = 16  # bytes of one vector access
# Packs of a row of a vectorised tile, and threads of its block: of a small matrix, and of a large one. On an H200 small
# tiles took 1.2 in place of 2.2 us at 32 x 32, and were faster up to 2048 x 2048.
SMALL_TILE, LARGE_TILE = (8, 64), (16, 256)
SMALL_BYTES = 1 << 24
# Of tiles whose rows start anywhere, by bytes of an element: rows, packs of a row, and blocks of an SM; the best of
# twenty at 4097 x 8191 on an H200. Parts of a row of y that begin at a multiple of 16 bytes but not of the 32 of a
# sector took 83 in place of 70 us.
REALIGNED = {4: (32, 32, 5), 2: (64, 32, 4)}
ALIGNMENT, THREADS = 32, 256
REALIGNED_EXTENT = (1 << 31) - 4096  # a tile counts in int, also rows and columns past the last one

_HERE = Path(__file__).parent
NAIVE = Source(_HERE / "naive.cu")
SHARED = Source(_HERE / "shared.cu")
SHARED_SWIZZLED = Source(_HERE / "shared_swizzled.cu")
SHARED_PADDED = Source(_HERE / "shared_padded.cu")
VECTORISED = Source(_HERE / "vectorised.cu")


def naive(x: torch.Tensor, y: torch.Tensor) -> None:
    """One element per thread. Raises ``ValueError`` unless ``y`` has the shape of ``x.T``."""
    m, n = transpose_extents(x, y)
    function = NAIVE.function(f"transpose_naive<{c_type(x)}>")
    function((ceil_div(m, 8) * ceil_div(n, 32),), (32, 8), (x, y, m, n, *x.stride(), *y.stride()))


def shared(x: torch.Tensor, y: torch.Tensor) -> None:
    """Tiles of 32 x 32 in shared memory. Raises ``ValueError`` unless ``y`` has the shape of ``x.T``."""
    m, n = transpose_extents(x, y)
    function = SHARED.function(f"transpose_shared<{c_type(x)}, 32>")
    function((ceil_div(m, 32) * ceil_div(n, 32),), (32, 8), (x, y, m, n, *x.stride(), *y.stride()))


def shared_swizzled(x: torch.Tensor, y: torch.Tensor) -> None:
    """Tiles of 32 x 32, their columns permuted. Raises ``ValueError`` unless ``y`` has the shape of ``x.T``."""
    m, n = transpose_extents(x, y)
    function = SHARED_SWIZZLED.function(f"transpose_shared_swizzled<{c_type(x)}, 32>")
    function((ceil_div(m, 32) * ceil_div(n, 32),), (32, 8), (x, y, m, n, *x.stride(), *y.stride()))


def shared_padded(x: torch.Tensor, y: torch.Tensor) -> None:
    """Tiles of 32 x 32 in shared memory. Raises ``ValueError`` unless ``y`` has the shape of ``x.T``."""
    m, n = transpose_extents(x, y)
    function = SHARED_PADDED.function(f"transpose_shared_padded<{c_type(x)}, 32>")
    function((ceil_div(m, 32) * ceil_div(n, 32),), (32, 8), (x, y, m, n, *x.stride(), *y.stride()))


@remembered
def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """16 bytes per access, also where rows do not start at multiples of them; ``shared_padded`` for strided rows, and
    for rows or columns of 2^31 elements that start anywhere.

    Raises ``ValueError`` unless ``y`` has the shape of ``x.T``.
    """
    m, n = transpose_extents(x, y)
    if not x.numel():
        return
    (x_row, x_column), (y_row, y_column) = x.stride(), y.stride()
    size = x.element_size()
    if x_column != 1 or y_column != 1:
        return shared_padded(x, y)
    if not (x_row * size | y_row * size | x.data_ptr() | y.data_ptr()) % PACK:
        function, grid, block = _vectorised_plan(x.dtype, m, n, streamed(2 * x.nbytes, x))
        function(grid, block, (x, y, m, n, x_row, y_row))
    elif size in REALIGNED and max(m, n) <= REALIGNED_EXTENT:
        function, grid = _realigned_plan(x.dtype, m, n)
        function(grid, (THREADS,), (x, y, m, n, x_row, y_row))
    else:
        shared_padded(x, y)


# Plans are remembered, because they cost the host more than a launch.
@functools.lru_cache(maxsize=4096)
def _vectorised_plan(dtype: torch.dtype, m: int, n: int, last: bool) -> tuple[Function, tuple[int], tuple[int]]:
    packs, threads = SMALL_TILE if m * n * dtype.itemsize <= SMALL_BYTES else LARGE_TILE
    tile = packs * PACK // dtype.itemsize
    plan = f"{packs}, {threads}, {c_bool(last)}"
    function = VECTORISED.function(f"transpose_vectorised<{c_type(torch.empty(0, dtype=dtype))}, {plan}>")
    return function, (ceil_div(m, tile) * ceil_div(n, tile),), (threads,)


@functools.lru_cache(maxsize=4096)
def _realigned_plan(dtype: torch.dtype, m: int, n: int) -> tuple[Function, tuple[int]]:
    size = dtype.itemsize
    rows, packs, blocks = REALIGNED[size]
    plan = f"{rows}, {packs}, {ALIGNMENT}, {THREADS}, {blocks}"
    function = VECTORISED.function(f"transpose_realigned<{c_type(torch.empty(0, dtype=dtype))}, {plan}>")
    down, right = ceil_div(m + ALIGNMENT // size - 1, rows), ceil_div(n, (packs - 1) * PACK // size)
    return function, (down * right,)
