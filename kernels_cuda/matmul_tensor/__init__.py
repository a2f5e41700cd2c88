"""c[m, n] = a[m, k] b[k, n] on the tensor cores, in CUDA C++, for any strides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from pytest_roofline.launch import GpuNeeded, Source, c_type, ceil_div
from pytest_roofline.operands import matmul_extents, require_dtype

from .._mma import Tiling, access, aligned, arguments, multiprocessors
from . import align, hopper

_HERE = Path(__file__).parent
MMA_SIMPLE = Source(_HERE / "mma_simple.cu")
TILED = Source(_HERE / "tiled.cu")
PIPELINED = Source(_HERE / "pipelined.cu")
TUNED = Source(_HERE / "tuned.cu")

RUNG = Tiling(128, 128, 64, 32, 64, 4)  # of tiled and pipelined, as in their files
LARGE = Tiling(128, 256, 64, 64, 64, 6)
LARGE_WIDE = replace(LARGE, stages=5)  # results of 32 bits take the sixth tile's place in an A100's shared memory
GROUP = 16  # rows of tiles that are walked column by column
PRODUCTS_OF_A_COPY = 128  # of an element that is copied: in less, mma.sync would be done before


def mma_simple(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """16 x 8 results per warp, operands gathered from device memory. Raises ``ValueError`` for shapes that do not
    multiply."""
    m, n, _ = matmul_extents(a, b, c)
    function = MMA_SIMPLE.function(f"matmul_tensor_mma_simple<{c_type(a)}, {c_type(c)}>")
    function((ceil_div(m, 16) * ceil_div(n, 32),), (128,), arguments(a, b, c))


def tiled(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """Tiles of 128 x 128 in shared memory. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, _ = matmul_extents(a, b, c)
    function = TILED.function(f"matmul_tensor_tiled<{c_type(a)}, {c_type(c)}, {access(a, b)}>")
    function((ceil_div(m, RUNG.rows) * ceil_div(n, RUNG.columns),), (RUNG.threads,), arguments(a, b, c))


def pipelined(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """As ``tiled`` with four tiles on their way. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, _ = matmul_extents(a, b, c)
    function = PIPELINED.function(f"matmul_tensor_pipelined<{c_type(a)}, {c_type(c)}, {access(a, b)}>")
    grid = (ceil_div(m, RUNG.rows) * ceil_div(n, RUNG.columns),)
    function(grid, (RUNG.threads,), arguments(a, b, c), RUNG.shared_bytes)


def tuned(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """Tiles of 128 x 256, grouped blocks, results through shared memory. Raises ``ValueError`` for shapes that do not
    multiply."""
    launch_tuned(a, b, c, LARGE if c.element_size() == 2 else LARGE_WIDE, GROUP)


def launch_tuned(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, tiling: Tiling, group: int) -> None:
    """``tuned`` with another tiling. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, _ = matmul_extents(a, b, c)
    types = f"{c_type(a)}, {c_type(c)}"
    function = TUNED.function(f"matmul_tensor_tuned<{types}, {tiling.parameters}, {access(a, b)}>")
    blocks = min(ceil_div(m, tiling.rows) * ceil_div(n, tiling.columns), multiprocessors(a))
    shared_bytes = tiling.shared_bytes + tiling.staging_bytes(c.element_size())
    function((blocks,), (tiling.threads,), (*arguments(a, b, c), group, aligned(c)), shared_bytes)


def automatic(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, packed: torch.Tensor) -> None:
    """Hopper's own instructions where the GPU has them, else ``tuned``.

    What the copy engine does not take is copied to the workspace ``packed``, as far as that pays. Raises ``ValueError``
    for shapes that do not multiply, :class:`GpuNeeded` for fp8 elsewhere: mma.sync of sm_80 has no such operands.
    """
    bytes_of_float = a.dtype is torch.float8_e4m3fn
    here = hopper.available(c.device)
    if bytes_of_float and not here:
        raise GpuNeeded(f"products of {a.dtype} need a GPU of {hopper.ARCH}")
    if here and (bytes_of_float or not hopper.problem(a, b, c) or copies_pay(a, b, c)):
        _aligned(a, b, c, packed)
    else:
        tuned(a, b, c)


def copies_pay(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> bool:
    """Whether a product is large enough for copies of those of its matrices that the copy engine does not take."""
    m, n, k = matmul_extents(a, b, c)
    if c.stride(1) != 1 or m * n * k == 0 or c.dtype is not hopper.result_type(a) or max(m, n, k) > hopper.LONGEST:
        return False
    return align.copied(a, b, c) * PRODUCTS_OF_A_COPY <= m * n * k


def _aligned(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, packed: torch.Tensor) -> None:
    """The product by the copy engine, by way of copies where it needs them."""
    if matmul_extents(a, b, c)[2] == 0 or c.numel() == 0:
        hopper.empty(c, a.shape[1])
        return
    if c.stride(1) != 1 and c.stride(0) == 1:
        a, b, c = b.T, a.T, c.T  # a c by columns: its transpose has dense rows
    require_dtype(f"a product of {a.dtype}", hopper.result_type(a), c)
    a, b, packed = align.operands(a, b, packed)
    result, _ = align.place(c, packed, stored=True)
    hopper.best(a, b, result.matrix, free_gaps=result.moves)
    if result.moves:
        align.put_back(result.matrix, c)
