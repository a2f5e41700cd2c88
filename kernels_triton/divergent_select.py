"""y[i, j] = f(x[i, j]) where c[i] > 0, else g(x[i, j]), over dense f32."""

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div, require
from pytest_roofline.operands import require_dtype, require_matrices

from ._launch import launch

STEPS = tl.constexpr(64)


@triton.jit
def _chosen(value):
    for _ in tl.static_range(STEPS):
        value = tl.fma(value, 0.75, 0.5)
    return value


@triton.jit
def _otherwise(value):
    for _ in tl.static_range(STEPS):
        value = tl.fma(value, -0.5, 0.25)
    return value


@triton.jit
def _per_warp(c_ptr, x_ptr, y_ptr, n, group, BLOCK: tl.constexpr):
    # A program is one warp and branches as one: one side where all elements agree, otherwise both and a selection.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    choice = tl.load(c_ptr + offsets // group, mask=inside, other=0.0) > 0
    choosing = tl.sum((choice & inside).to(tl.int32), axis=0)
    present = tl.sum(inside.to(tl.int32), axis=0)
    if choosing == present:
        tl.store(y_ptr + offsets, _chosen(x), mask=inside)
    else:
        if choosing == 0:
            tl.store(y_ptr + offsets, _otherwise(x), mask=inside)
        else:
            tl.store(y_ptr + offsets, tl.where(choice, _chosen(x), _otherwise(x)), mask=inside)


@triton.jit
def _branch_free(c_ptr, x_ptr, y_ptr, n, group, BLOCK: tl.constexpr):
    # Every element takes both sides: the time of both whatever the selectors.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    choice = tl.load(c_ptr + offsets // group, mask=inside) > 0
    tl.store(y_ptr + offsets, tl.where(choice, _chosen(x), _otherwise(x)), mask=inside)


def per_warp(c: torch.Tensor, x: torch.Tensor, y: torch.Tensor, *, block: int) -> None:
    """A branch per program of one warp. Raises ``ValueError`` unless all are dense, with one selector per row."""
    n = _elements(c, x, y)
    if n:
        launch(_per_warp, (ceil_div(n, block),), c, x, y, n, x.shape[1], BLOCK=block, num_warps=1)


def branch_free(c: torch.Tensor, x: torch.Tensor, y: torch.Tensor, *, block: int) -> None:
    """Both sides and a selection. Raises ``ValueError`` as ``per_warp`` does."""
    n = _elements(c, x, y)
    if n:
        launch(_branch_free, (ceil_div(n, block),), c, x, y, n, x.shape[1], BLOCK=block)


def _elements(c: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> int:
    require_matrices("divergent_select", x)
    require_dtype("divergent_select", torch.float32, c, x, y)
    dense = all(t.is_contiguous() for t in (c, x, y))
    require(dense and x.shape == y.shape and c.shape == x.shape[:1], "divergent_select takes dense rows and selectors")
    return y.numel()
