"""y = sin(sin(... x)) over dense f32 vectors."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from pytest_roofline.launch import ceil_div
from pytest_roofline.operands import require_vectors

from ._launch import launch


@triton.jit
def _sin_chain(x_ptr, y_ptr, n, steps, FAST: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x_ptr + offsets, mask=inside)
    for _ in range(steps):
        value = libdevice.fast_sinf(value) if FAST else tl.sin(value)
    tl.store(y_ptr + offsets, value, mask=inside)


def precise(x: torch.Tensor, y: torch.Tensor, *, steps: int, block: int) -> None:
    """``steps`` times ``tl.sin``. Raises ``ValueError`` unless both are dense vectors of one length."""
    _launch(x, y, steps, block, fast=False)


def fast(x: torch.Tensor, y: torch.Tensor, *, steps: int, block: int) -> None:
    """``steps`` times the intrinsic, which Triton's interpreter lacks: on a CPU ``tl.sin`` stands in for it.

    Raises ``ValueError`` as ``precise`` does.
    """
    _launch(x, y, steps, block, fast=y.is_cuda)


def _launch(x: torch.Tensor, y: torch.Tensor, steps: int, block: int, *, fast: bool) -> None:
    require_vectors("sin_chain", x, y, dtype=torch.float32)
    n = y.numel()
    if n:
        launch(_sin_chain, (ceil_div(n, block),), x, y, n, steps, FAST=fast, BLOCK=block)
