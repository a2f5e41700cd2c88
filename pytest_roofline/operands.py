"""What launchers of either language ask of their tensors, before anything is launched.

Shapes, ranks and strides that do not fit raise ``ValueError``, element types ``TypeError``. Every launch pays for these
checks: they read attributes, and put words together only where something is wrong.
"""

from __future__ import annotations

import torch

_ROW_WISE = frozenset((torch.float32, torch.float16, torch.bfloat16))
_FACTORS = frozenset((torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.int8))
_FLOATS = (torch.float32, torch.float64)
# What a sum accumulates in: no narrower than what torch.sum does.
_TOTALS: dict[torch.dtype, tuple[torch.dtype, ...]] = {
    torch.float64: (torch.float64,),
    torch.float32: _FLOATS,
    torch.float16: _FLOATS,
    torch.bfloat16: _FLOATS,
    torch.int64: (torch.int64,),
    torch.int32: (torch.int64,),
    torch.int8: (torch.int64,),
}


def require_dtype(name: str, dtype: torch.dtype, *tensors: torch.Tensor) -> None:
    """Raise ``TypeError`` unless all have elements of type ``dtype``; ``name`` is the operation's."""
    for tensor in tensors:
        if tensor.dtype is not dtype:
            raise TypeError(f"{name} takes {dtype} here, got {tensor.dtype}")


def require_positive(name: str, what: str, number: int) -> None:
    """Raise ``ValueError`` unless ``number`` is at least one; ``what`` is counted."""
    if number < 1:
        raise ValueError(f"{name} needs at least one of {what}, not {number}")


def require_vectors(name: str, *tensors: torch.Tensor, dtype: torch.dtype | None = None) -> None:
    """Raise ``ValueError`` unless all are dense and of one shape, ``TypeError`` unless all are of one element type,
    ``dtype`` or else that of the first; ``name`` is the operation's."""
    first = tensors[0]
    shape, dtype = first.shape, dtype or first.dtype
    for tensor in tensors:
        if (tensor is not first and tensor.shape != shape) or not tensor.is_contiguous():
            raise ValueError(f"{name} takes dense equal vectors")
        if tensor.dtype is not dtype:
            raise TypeError(f"{name} takes {dtype} here, got {tensor.dtype}")


def require_matrices(name: str, *tensors: torch.Tensor) -> None:
    """Raise ``ValueError`` unless all have two dimensions; ``name`` is the operation's."""
    for tensor in tensors:
        if tensor.ndim != 2:
            raise ValueError(f"{name} takes matrices, got a tensor of shape {tuple(tensor.shape)}")


def require_workspace(name: str, workspace: torch.Tensor, least: int, dtype: torch.dtype = torch.float32) -> None:
    """Raise ``ValueError`` unless ``workspace`` is dense and has ``least`` elements, ``TypeError`` unless they are of
    type ``dtype``; ``name`` is what the launcher calls it."""
    if workspace.numel() < least or not workspace.is_contiguous():
        raise ValueError(f"the workspace {name} needs {least} dense elements, got {tuple(workspace.shape)}")
    if workspace.dtype is not dtype:
        raise TypeError(f"the workspace {name} takes {dtype}, got {workspace.dtype}")


def require_sum(x: torch.Tensor, total: torch.Tensor) -> None:
    """Raise ``ValueError`` unless ``x`` is dense and ``total`` a single element; ``TypeError`` unless ``total`` is what
    torch adds up such elements in, or wider: float32 or float64 for floats, int64 for integers."""
    if total.numel() != 1 or not x.is_contiguous():
        raise ValueError("sum takes a dense vector and one result")
    totals = _TOTALS.get(x.dtype, ())
    if total.dtype not in totals:
        wanted = " or ".join(map(str, totals)) or "no type that a kernel has"
        raise TypeError(f"the total of {x.dtype} is {wanted}, not {total.dtype}")


def row_extents(
    x: torch.Tensor, y: torch.Tensor, *weights: torch.Tensor, **workspaces: torch.Tensor
) -> tuple[int, int]:
    """Rows and columns of ``x`` and ``y``. Raises ``ValueError`` unless both are matrices of one shape, each of
    ``weights`` has one element per column, each of ``workspaces`` is dense with at least one per row, and all rows are
    dense; ``TypeError`` unless all are of one element type, float32, float16 or bfloat16, and workspaces of float32."""
    shape, dtype = x.shape, x.dtype
    if len(shape) != 2:
        raise ValueError(f"row-wise kernels take a matrix, got a tensor of shape {tuple(shape)}")
    rows, columns = shape
    if y.shape != shape:
        raise ValueError(f"the result of {rows} x {columns} is not {' x '.join(map(str, y.shape))}")
    if dtype not in _ROW_WISE:
        raise TypeError(f"row-wise kernels take float32, float16 or bfloat16, got {dtype}")
    for weight in weights:
        if weight.shape != (columns,):
            raise ValueError(f"a weight of {tuple(weight.shape)} is not one per column")
    for tensor in (x, y, *weights):
        if tensor.dtype is not dtype:
            raise TypeError(f"row-wise kernels take one element type: {dtype} or {tensor.dtype}")
        if not tensor.is_contiguous() and columns > 1 and tensor.stride(-1) != 1:
            raise ValueError("row-wise kernels take a dense row at a time")
    for name, workspace in workspaces.items():
        require_workspace(name, workspace, rows)
    return rows, columns


def transpose_extents(x: torch.Tensor, y: torch.Tensor) -> tuple[int, int]:
    """Rows and columns of ``x``. Raises ``ValueError`` unless it is a matrix and ``y`` has them the other way round,
    ``TypeError`` unless both are of one element type."""
    shape = x.shape
    if len(shape) != 2:
        raise ValueError(f"transpose takes a matrix, got a tensor of shape {tuple(shape)}")
    m, n = shape
    if y.shape != (n, m):
        raise ValueError(f"the transpose of {m} x {n} is not {' x '.join(map(str, y.shape))}")
    if y.dtype is not x.dtype:
        raise TypeError(f"the transpose of {x.dtype} is not {y.dtype}")
    return m, n


def matmul_extents(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[int, int, int]:
    """m, n and k of c[m, n] = a[m, k] b[k, n]. Raises ``ValueError`` for shapes that do not multiply; ``TypeError``
    unless ``a`` and ``b`` are of one element type, of at most 32 bits, and ``c`` is of floats or, for int8, int32."""
    require_matrices("a matrix product", a, b, c)
    (m, k), (_, n) = a.shape, b.shape
    if b.shape != (k, n) or c.shape != (m, n):
        raise ValueError(f"{tuple(a.shape)} times {tuple(b.shape)} is not {tuple(c.shape)}")
    dtype = a.dtype
    if dtype not in _FACTORS or b.dtype is not dtype:
        raise TypeError(f"there is no product of {dtype} and {b.dtype}")
    if not (c.dtype is torch.int32 if dtype is torch.int8 else c.is_floating_point()):
        raise TypeError(f"a product of {dtype} is not {c.dtype}")
    return m, n, k
