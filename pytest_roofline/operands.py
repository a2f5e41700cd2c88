"""What launchers of either language ask of the shapes of their tensors. What does not fit raises ``ValueError``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.launch import require

if TYPE_CHECKING:
    import torch


def require_vectors(name: str, *tensors: torch.Tensor) -> None:
    """Raise ``ValueError`` unless all are dense and of one shape; ``name`` is the operation's."""
    shape = tensors[0].shape
    for tensor in tensors:
        if tensor.shape != shape or not tensor.is_contiguous():
            raise ValueError(f"{name} takes dense equal vectors")


def row_extents(x: torch.Tensor, y: torch.Tensor, *weights: torch.Tensor) -> tuple[int, int]:
    """Rows and columns of ``x`` and ``y``. Raises ``ValueError`` unless each of ``weights`` has one element per column
    and all rows are dense."""
    rows, columns = shape = x.shape
    if y.shape != shape:
        raise ValueError(f"the result of {rows} x {columns} is not {' x '.join(map(str, y.shape))}")
    for weight in weights:
        if weight.shape != (columns,):
            raise ValueError(f"a weight of {tuple(weight.shape)} is not one per column")
    if columns > 1:
        for tensor in (x, y, *weights):
            if tensor.stride(-1) != 1:
                raise ValueError("row-wise kernels take a dense row at a time")
    return rows, columns


def transpose_extents(x: torch.Tensor, y: torch.Tensor) -> tuple[int, int]:
    """Rows and columns of ``x``. Raises ``ValueError`` unless ``y`` has them the other way round."""
    m, n = x.shape
    if y.shape != (n, m):
        raise ValueError(f"the transpose of {m} x {n} is not {' x '.join(map(str, y.shape))}")
    return m, n


def matmul_extents(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[int, int, int]:
    """m, n and k of c[m, n] = a[m, k] b[k, n]. Raises ``ValueError`` for shapes that do not multiply."""
    (m, k), (_, n) = a.shape, b.shape
    fits = b.shape == (k, n) and c.shape == (m, n)
    require(fits, f"{tuple(a.shape)} times {tuple(b.shape)} is not {tuple(c.shape)}")
    return m, n, k
