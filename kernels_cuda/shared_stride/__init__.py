"""Sums of words at a stride in shared memory, in CUDA C++: one block per tile."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, require

BLOCK = 256
TILE = 1088  # words that a block reads from
WIDEST = 32  # words from lane to lane

SCALAR = Source(Path(__file__).with_name("scalar.cu"))


def scalar(x: torch.Tensor, y: torch.Tensor, *, stride: int) -> None:
    """``y[b, t]``: the sum over ``i, j < 32`` of ``x[b, t % 32 * stride + t // 32 + i + j]``.

    Raises ``ValueError`` for a stride beyond 32, and unless both are dense with rows of 1088 and 256 elements.
    """
    require(0 <= stride <= WIDEST, f"shared_stride takes strides from 0 to {WIDEST}")
    shapes = x.shape[1:] == (TILE,) and y.shape == (x.shape[0], BLOCK)
    require(shapes and x.is_contiguous() and y.is_contiguous(), f"shared_stride takes dense rows of {TILE} words")
    SCALAR.function("shared_stride_scalar")((x.shape[0],), (BLOCK,), (x, stride, y))
