"""y[n, m] = x[m, n] transposed, in CUDA C++, for any strides of both."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_type, ceil_div, misalignment, require

PACK = 16  # bytes of one vector access

_HERE = Path(__file__).parent
NAIVE = Source(_HERE / "naive.cu")
SHARED_PADDED = Source(_HERE / "shared_padded.cu")
VECTORISED = Source(_HERE / "vectorised.cu")


def naive(x: torch.Tensor, y: torch.Tensor) -> None:
    """One element per thread. Raises ``ValueError`` unless ``y`` has the shape of ``x.T``."""
    m, n = _extents(x, y)
    function = NAIVE.function(f"transpose_naive<{c_type(x)}>")
    function((ceil_div(m, 8) * ceil_div(n, 32),), (32, 8), (x, y, m, n, *x.stride(), *y.stride()))


def shared_padded(x: torch.Tensor, y: torch.Tensor) -> None:
    """Tiles of 32 x 32 in shared memory. Raises ``ValueError`` unless ``y`` has the shape of ``x.T``."""
    m, n = _extents(x, y)
    function = SHARED_PADDED.function(f"transpose_shared_padded<{c_type(x)}, 32>")
    function((ceil_div(m, 32) * ceil_div(n, 32),), (32, 8), (x, y, m, n, *x.stride(), *y.stride()))


def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """Tiles of 64 x 64, 16 bytes per thread; ``shared_padded`` where rows are strided or start misaligned.

    Raises ``ValueError`` unless ``y`` has the shape of ``x.T``.
    """
    if not (_aligned_rows(x) and _aligned_rows(y)):
        return shared_padded(x, y)
    m, n = _extents(x, y)
    function = VECTORISED.function(f"transpose_vectorised<{c_type(x)}, 64, 256>")
    function((ceil_div(m, 64) * ceil_div(n, 64),), (256,), (x, y, m, n, x.stride(0), y.stride(0)))


def _extents(x: torch.Tensor, y: torch.Tensor) -> tuple[int, int]:
    m, n = x.shape
    require(y.shape == (n, m), f"the transpose of {m} x {n} is not {' x '.join(map(str, y.shape))}")
    return m, n


def _aligned_rows(matrix: torch.Tensor) -> bool:
    pitch = matrix.stride(0) * matrix.element_size()
    return matrix.stride(1) == 1 and pitch % PACK == 0 and misalignment(matrix, PACK) == 0
