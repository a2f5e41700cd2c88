"""c[m, n] = a[m, k] b[k, n] on the tensor cores, in CUDA C++, for any strides."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_type, ceil_div, require

_HERE = Path(__file__).parent
MMA_SIMPLE = Source(_HERE / "mma_simple.cu")


def mma_simple(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """16 x 8 results per warp, operands gathered from device memory. Raises ``ValueError`` for shapes that do not
    multiply."""
    m, n, k = _extents(a, b, c)
    arguments = (a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride())
    function = MMA_SIMPLE.function(f"matmul_tensor_mma_simple<{c_type(a)}, {c_type(c)}>")
    function((ceil_div(m, 16) * ceil_div(n, 32),), (128,), arguments)


def _extents(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[int, int, int]:
    (m, k), (_, n) = a.shape, b.shape
    fits = b.shape == (k, n) and c.shape == (m, n)
    require(fits, f"{tuple(a.shape)} times {tuple(b.shape)} is not {tuple(c.shape)}")
    return m, n, k
