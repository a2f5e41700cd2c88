"""What launchers of matrix products find out about their operands and their device."""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from pytest_roofline.launch import GpuNeeded, require
from pytest_roofline.operands import matmul_extents

PACK = 16  # bytes of the widest access of one thread, and what the tensor memory accelerator counts in
LONGEST = (1 << 31) - 1024
INTERPRETED = 4  # programs that the interpreter is thought to run at once: enough for several to share a tile


def extents(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[int, int, int]:
    """m, n and k. Raises ``ValueError`` for shapes that do not multiply, and for extents that, rounded up to tiles,
    32 bits do not count."""
    found = matmul_extents(a, b, c)
    require(max(found) <= LONGEST, f"these kernels count up to {LONGEST} rows and columns, not {max(found)}")
    return found


def scaled(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """m, n, k and all strides as :func:`tiled` takes them, and its ``UNITS``.

    Triton sees only that an argument is a multiple of 16. Rows of 8 or 24 bytes' worth of packs lie aligned as well,
    so extents and strides are passed as so many units of up to 16, which the kernel multiplies out, in 32 bits: what
    needs 64 is passed whole. Raises ``ValueError`` as :func:`extents` does.
    """
    m, n, k = extents(a, b, c)
    measured = (n, k, a.stride(0), b.stride(0), b.stride(1), c.stride(0))
    units = tuple(math.gcd(value, 16) if value < 1 << 31 else 1 for value in measured)
    n_, k_, a_row, b_row, b_column, c_row = (v // unit for v, unit in zip(measured, units, strict=True))
    return (m, n_, k_, a_row, a.stride(1), b_row, b_column, c_row, c.stride(1)), units


def sums_type(c: torch.Tensor) -> tl.dtype:
    """What products are added up in."""
    return tl.int32 if c.dtype is torch.int32 else tl.float32


def described(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether both operands should go through tensor descriptors.

    These need a dense dimension and everything else in packs; and the tensor memory accelerator of Hopper and later,
    elsewhere they only cost address arithmetic. The interpreter does what it would do.
    """
    return accelerated() and describable(a) and describable(b.T if b.stride(0) == 1 else b)


def describable(matrix: torch.Tensor) -> bool:
    """Whether its rows are dense and start at multiples of 16 bytes."""
    row, column = matrix.stride()
    aligned = matrix.data_ptr() % PACK == row * matrix.element_size() % PACK == 0
    return aligned and column == 1 and matrix.numel() > 0


def for_kernel(
    a: torch.Tensor, b: torch.Tensor, block_m: int, block_n: int, block_k: int, as_descriptors: bool
) -> tuple[Any, Any]:
    """Both operands as they are, or as descriptors of their blocks; b by columns has one of its transpose."""
    if not as_descriptors:
        return a, b
    turned = b.stride(0) == 1
    right, blocks = (b.T, [block_n, block_k]) if turned else (b, [block_k, block_n])
    return TensorDescriptor.from_tensor(a, [block_m, block_k]), TensorDescriptor.from_tensor(right, blocks)


def result_descriptor(c: torch.Tensor, block_m: int, block_n: int) -> TensorDescriptor | None:
    """A descriptor of blocks of the result; ``None`` where its rows do not lie in packs, or end within one: of what is
    stored there, the rest would be overwritten."""
    whole = c.shape[1] * c.element_size() % PACK == 0
    return TensorDescriptor.from_tensor(c, [block_m, block_n]) if whole and describable(c) else None


def accelerated() -> bool:
    """Whether there is a tensor memory accelerator, as from Hopper on. The interpreter does what it would do."""
    return bool(triton.knobs.runtime.interpret) or _architecture() >= 90


def require_formats(operand: torch.Tensor) -> None:
    """Raise ``GpuNeeded`` for 8-bit floating point before Ada: Triton compiles it for no older device."""
    if operand.dtype is torch.float8_e4m3fn and not triton.knobs.runtime.interpret and _architecture() < 89:
        raise GpuNeeded("8-bit floating point needs a GPU of compute capability 8.9 or later")


@functools.cache
def _architecture() -> int:
    """Compute capability, times ten, of what Triton compiles for."""
    return int(triton.runtime.driver.active.get_current_target().arch)


def multiprocessors(tensor: torch.Tensor) -> int:
    """SMs of the tensor's device."""
    return _multiprocessors(tensor.device.index) if tensor.is_cuda else INTERPRETED


@functools.cache
def _multiprocessors(device: int) -> int:
    return int(torch.cuda.get_device_properties(device).multi_processor_count)
