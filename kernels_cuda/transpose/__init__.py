"""y[n, m] = x[m, n] transposed, in CUDA C++, for any strides of both."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_type, ceil_div, misalignment
from pytest_roofline.operands import transpose_extents

PACK = 16  # bytes of one vector access
# Packs of a row of a vectorised tile, and threads of its block: of a small matrix, and of a large one. On an H200 small
# tiles took 1.2 in place of 2.2 us at 32 x 32, and were faster up to 2048 x 2048.
SMALL_TILE, LARGE_TILE = (8, 64), (16, 256)
SMALL_BYTES = 1 << 24
MISALIGNED_TILE = (64, 32)  # rows and columns of x, the best of eight at 4097 x 8191 on an H200, in f32 and f16
THREADS = 256

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


def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """16 bytes per access, where rows start at multiples of them; elsewhere long tiles, element by element.

    ``shared_padded`` for strided rows. Raises ``ValueError`` unless ``y`` has the shape of ``x.T``.
    """
    m, n = transpose_extents(x, y)
    if not x.numel():
        return
    if x.stride(1) != 1 or y.stride(1) != 1:
        return shared_padded(x, y)
    arguments = (x, y, m, n, x.stride(0), y.stride(0))
    if _aligned_rows(x) and _aligned_rows(y):
        packs, threads = SMALL_TILE if x.nbytes <= SMALL_BYTES else LARGE_TILE
        tile = packs * PACK // x.element_size()
        function = VECTORISED.function(f"transpose_vectorised<{c_type(x)}, {packs}, {threads}>")
        function((ceil_div(m, tile) * ceil_div(n, tile),), (threads,), arguments)
    else:
        rows, columns = MISALIGNED_TILE
        instance = f"<{c_type(x)}, {rows}, {columns}, {THREADS}>"
        function = VECTORISED.function(f"transpose_vectorised_misaligned{instance}")
        function((ceil_div(m, rows) * ceil_div(n, columns),), (THREADS,), arguments)


def _aligned_rows(matrix: torch.Tensor) -> bool:
    return matrix.stride(0) * matrix.element_size() % PACK == 0 and misalignment(matrix, PACK) == 0
