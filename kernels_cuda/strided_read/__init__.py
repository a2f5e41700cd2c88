"""y[i] = x[i, 0], one field of n records of f32, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div, require
from pytest_roofline.operands import require_dtype, require_matrices

BLOCK = 256
FIELDS = 8  # of a record of 32 bytes

_HERE = Path(__file__).parent
STRIDED = Source(_HERE / "strided.cu")
AOS = Source(_HERE / "aos.cu")
SOA = Source(_HERE / "soa.cu")


def strided(x: torch.Tensor, y: torch.Tensor) -> None:
    """Rows any distance apart. Raises ``ValueError`` unless ``y`` is dense, with one element per row."""
    n = _rows(x, y)
    STRIDED.function("strided_read_strided")((ceil_div(n, BLOCK),), (BLOCK,), (x, y, n, x.stride(0)))


def aos(x: torch.Tensor, y: torch.Tensor) -> None:
    """Dense rows of 8. Raises ``ValueError`` for anything else."""
    n = _rows(x, y)
    require(x.shape[1] == FIELDS and x.is_contiguous(), f"strided_read/aos takes dense records of {FIELDS}")
    AOS.function("strided_read_aos")((ceil_div(n, BLOCK),), (BLOCK,), (x, y, n))


def soa(x: torch.Tensor, y: torch.Tensor) -> None:
    """Dense columns. Raises ``ValueError`` for anything else."""
    n = _rows(x, y)
    require(n < 2 or x.stride(0) == 1, "strided_read/soa takes dense columns")
    SOA.function("strided_read_soa")((ceil_div(n, BLOCK),), (BLOCK,), (x, y, n))


def _rows(x: torch.Tensor, y: torch.Tensor) -> int:
    require_matrices("strided_read", x)
    fits = x.shape[1] > 0 and y.shape == x.shape[:1] and y.is_contiguous()
    require(fits, "strided_read takes a dense vector with one element per row that is not empty")
    require_dtype("strided_read", torch.float32, x, y)
    return y.numel()
