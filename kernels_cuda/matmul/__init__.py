"""c[m, n] = a[m, k] b[k, n] in f32 on the ordinary cores, in CUDA C++, for any strides."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div, require

_HERE = Path(__file__).parent
NAIVE = Source(_HERE / "naive.cu")
SHARED_32 = Source(_HERE / "shared_32.cu")


def naive(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """One element of ``c`` per thread. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, k = _extents(a, b, c)
    arguments = (a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride())
    NAIVE.function("matmul_naive")((ceil_div(m, 8) * ceil_div(n, 32),), (32, 8), arguments)


def shared_32(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """Tiles of 32 x 32 in shared memory. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, k = _extents(a, b, c)
    arguments = (a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride())
    SHARED_32.function("matmul_shared_32")((ceil_div(m, 32) * ceil_div(n, 32),), (32, 32), arguments)


def _extents(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[int, int, int]:
    (m, k), (_, n) = a.shape, b.shape
    fits = b.shape == (k, n) and c.shape == (m, n)
    require(fits, f"{tuple(a.shape)} times {tuple(b.shape)} is not {tuple(c.shape)}")
    return m, n, k
