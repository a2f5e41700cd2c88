"""What the matrix products c[m, n] = a[m, k] b[k, n] share: the order of tiles, a tile's sum, checks of arguments."""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from pytest_roofline.launch import GpuNeeded, require

PACK = 16  # bytes of the widest access of one thread


@triton.jit
def place(tile, down, across, GROUP: tl.constexpr):
    """Row and column of a tile among ``down`` x ``across``: ``GROUP`` rows of tiles are walked column by column, so
    that the tiles computed at one time share panels of a and of b in L2."""
    each = GROUP * across
    first = tile // each * GROUP
    height = tl.minimum(down - first, GROUP)
    return first + tile % each % height, tile % each // height


@triton.jit
def product(
    a_ptr, b_ptr, rows, columns, first, last, k, a_row, a_column, b_row, b_column, sums,
    BLOCK_K: tl.constexpr, WHOLE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """``sums`` plus the products of rows of a and columns of b over k from ``first`` to ``last``.

    The rows and columns must exist. Elements past ``k`` are zeros and add nothing; ``WHOLE`` promises that there are
    none in any block.
    """
    zero: tl.constexpr = 0.0 if sums.dtype.is_floating() else 0
    inner = tl.arange(0, BLOCK_K)
    at = first + inner.to(tl.int64)
    a = a_ptr + rows.to(tl.int64)[:, None] * a_row + at[None, :] * a_column
    b = b_ptr + at[:, None] * b_row + columns.to(tl.int64)[None, :] * b_column
    step = tl.full((), BLOCK_K, tl.int64)
    for start in range(first, last, BLOCK_K):
        if WHOLE:
            a_tile = tl.load(a)
            b_tile = tl.load(b)
        else:
            a_tile = tl.load(a, mask=inner[None, :] < k - start, other=zero)
            b_tile = tl.load(b, mask=inner[:, None] < k - start, other=zero)
        sums = tl.dot(a_tile, b_tile, sums, input_precision=PRECISION, out_dtype=sums.dtype)
        a += step * a_column
        b += step * b_row
    return sums


@triton.jit
def tiled(
    a_ptr, b_ptr, c_ptr, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    UNITS: tl.constexpr, WHOLE: tl.constexpr, SUMS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One tile of c per program, added up in the type ``SUMS``."""
    n, k = n * UNITS[0], k * UNITS[1]
    a_row, b_row, b_column, c_row = a_row * UNITS[2], b_row * UNITS[3], b_column * UNITS[4], c_row * UNITS[5]
    row, column = place(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), GROUP)
    rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
    sums = tl.zeros((BLOCK_M, BLOCK_N), SUMS)
    # Past the edge the first rows and columns are loaded again: cheaper than a mask, and their sums are not stored.
    sums = product(
        a_ptr, b_ptr, rows % m, columns % n, 0, k, k, a_row, a_column, b_row, b_column, sums,
        BLOCK_K, WHOLE, PRECISION,
    )  # fmt: skip
    c = c_ptr + rows.to(tl.int64)[:, None] * c_row + columns.to(tl.int64)[None, :] * c_column
    tl.store(c, sums.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


def extents(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[int, int, int]:
    """m, n and k. Raises ``ValueError`` for shapes that do not multiply."""
    (m, k), (_, n) = a.shape, b.shape
    fits = b.shape == (k, n) and c.shape == (m, n)
    require(fits, f"{tuple(a.shape)} times {tuple(b.shape)} is not {tuple(c.shape)}")
    return m, n, k


def scaled(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """m, n, k and all strides as :func:`tiled` takes them, and its ``UNITS``.

    Triton sees only that an argument is a multiple of 16. Rows of 8 or 24 bytes' worth of packs lie aligned as well,
    so extents and strides are passed as so many units of up to 16, which the kernel multiplies out.
    """
    m, n, k = extents(a, b, c)
    measured = (n, k, a.stride(0), b.stride(0), b.stride(1), c.stride(0))
    units = tuple(math.gcd(value, 16) for value in measured)
    n_, k_, a_row, b_row, b_column, c_row = (v // unit for v, unit in zip(measured, units, strict=True))
    return (m, n_, k_, a_row, a.stride(1), b_row, b_column, c_row, c.stride(1)), units


def sums_type(c: torch.Tensor) -> tl.dtype:
    """What products are added up in."""
    return tl.int32 if c.dtype is torch.int32 else tl.float32


@triton.jit
def persistent(
    a_desc, b_desc, c_desc, c_ptr, m, n, k, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    B_BY_COLUMNS: tl.constexpr, PARTS: tl.constexpr, FLATTEN: tl.constexpr, SPECIALISE: tl.constexpr,
    SUMS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Tiles of c a grid apart. The tensor memory accelerator loads a and b, and fills with zeros what lies outside."""
    down, across = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    for tile in tl.range(
        tl.program_id(0), down * across, tl.num_programs(0), flatten=FLATTEN, warp_specialize=SPECIALISE
    ):
        row, column = place(tile, down, across, GROUP)
        sums = tl.zeros((BLOCK_M, BLOCK_N), SUMS)
        for start in range(0, k, BLOCK_K):
            a_tile = a_desc.load([row * BLOCK_M, start])
            b_tile = (
                b_desc.load([column * BLOCK_N, start]).T if B_BY_COLUMNS else b_desc.load([start, column * BLOCK_N])
            )
            sums = tl.dot(a_tile, b_tile, sums, input_precision=PRECISION, out_dtype=SUMS)
        # In parts, so that less shared memory is needed on the way out and more is left for the operands.
        width: tl.constexpr = BLOCK_N // PARTS
        if PARTS == 2:
            left, right = tl.split(tl.permute(tl.reshape(sums, (BLOCK_M, 2, width)), (0, 2, 1)))
            put(left, row, column * 2, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, width)
            put(right, row, column * 2 + 1, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, width)
        else:
            put(sums, row, column, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, BLOCK_N)


@triton.jit
def put(sums, row, column, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Store a tile, through the descriptor where there is one."""
    if c_desc is not None:
        c_desc.store([row * BLOCK_M, column * BLOCK_N], sums.to(c_desc.dtype))
    else:
        rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
        columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
        c = c_ptr + rows.to(tl.int64)[:, None] * c_row + columns.to(tl.int64)[None, :] * c_column
        tl.store(c, sums.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def part(
    a, b, row, column, first, last, m, n, k, a_row, a_column, b_row, b_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    WHOLE: tl.constexpr, DESCRIBED: tl.constexpr, B_BY_COLUMNS: tl.constexpr,
):  # fmt: skip
    """What k from ``first`` to ``last`` adds to tile (``row``, ``column``) of c, in f32; ``a`` and ``b`` are
    descriptors or pointers."""
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    if DESCRIBED:
        for start in range(first, last, BLOCK_K):
            a_tile = a.load([row * BLOCK_M, start])
            b_tile = b.load([column * BLOCK_N, start]).T if B_BY_COLUMNS else b.load([start, column * BLOCK_N])
            sums = tl.dot(a_tile, b_tile, sums, input_precision="ieee")
    else:
        rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
        columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
        sums = product(
            a, b, rows % m, columns % n, first, last, k, a_row, a_column, b_row, b_column, sums,
            BLOCK_K, WHOLE, "ieee",
        )  # fmt: skip
    return sums


@triton.jit
def slot(partials_ptr, number, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Pointers to a dense tile of the workspace."""
    start = partials_ptr + number.to(tl.int64) * (BLOCK_M * BLOCK_N)
    return start + tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]


def described(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether tensor descriptors can stand for both operands: a dense dimension, and everything else in packs."""
    right = b.T if b.stride(0) == 1 else b
    return all(_describable(tensor) for tensor in (a, right))


def _describable(matrix: torch.Tensor) -> bool:
    row, column = matrix.stride()
    aligned = matrix.data_ptr() % PACK == row * matrix.element_size() % PACK == 0
    return aligned and column == 1 and matrix.numel() > 0


def operands(
    a: torch.Tensor, b: torch.Tensor, block_m: int, block_n: int, block_k: int, as_descriptors: bool
) -> tuple[Any, Any]:
    """Both operands as they are, or as descriptors of their blocks; b by columns has one of its transpose."""
    if not as_descriptors:
        return a, b
    turned = b.stride(0) == 1
    right, blocks = (b.T, [block_n, block_k]) if turned else (b, [block_k, block_n])
    return TensorDescriptor.from_tensor(a, [block_m, block_k]), TensorDescriptor.from_tensor(right, blocks)


def result_descriptor(c: torch.Tensor, block_m: int, block_n: int) -> TensorDescriptor | None:
    """A descriptor of blocks of the result; ``None`` where its rows do not lie in packs."""
    return TensorDescriptor.from_tensor(c, [block_m, block_n]) if _describable(c) else None


def copies_tiles(tensor: torch.Tensor) -> bool:
    """Whether the device has a tensor memory accelerator, as from Hopper on; elsewhere descriptors cost address
    arithmetic. The interpreter does what it would do."""
    return triton.knobs.runtime.interpret or _architecture() >= 90


def require_formats(operand: torch.Tensor) -> None:
    """Raise ``GpuNeeded`` for 8-bit floating point before Ada: Triton compiles it for no older device."""
    if operand.dtype is torch.float8_e4m3fn and not triton.knobs.runtime.interpret and _architecture() < 89:
        raise GpuNeeded("8-bit floating point needs a GPU of compute capability 8.9 or later")


@functools.cache
def _architecture() -> int:
    """Compute capability, times ten, of what Triton compiles for."""
    return int(triton.runtime.driver.active.get_current_target().arch)


INTERPRETED = 4  # programs that the interpreter is thought to run at once: enough for several to share a tile


def multiprocessors(tensor: torch.Tensor) -> int:
    """SMs of the tensor's device."""
    return _multiprocessors(tensor.device.index) if tensor.is_cuda else INTERPRETED


@functools.cache
def _multiprocessors(device: int) -> int:
    return int(torch.cuda.get_device_properties(device).multi_processor_count)
