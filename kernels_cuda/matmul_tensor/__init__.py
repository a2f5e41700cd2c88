"""c[m, n] = a[m, k] b[k, n] on the tensor cores, in CUDA C++, for any strides."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from pytest_roofline.launch import GpuNeeded, Source, c_type, ceil_div, misalignment, require

from . import hopper

_HERE = Path(__file__).parent
MMA_SIMPLE = Source(_HERE / "mma_simple.cu")
TILED = Source(_HERE / "tiled.cu")
PIPELINED = Source(_HERE / "pipelined.cu")
TUNED = Source(_HERE / "tuned.cu")

CHUNK = 16  # bytes of the widest access


@dataclass(frozen=True)
class Tiling:
    """Results of a block and of a warp, bytes of a tile along k, tiles in shared memory."""

    rows: int
    columns: int
    warp_rows: int
    warp_columns: int
    line_bytes: int
    stages: int

    @property
    def threads(self) -> int:
        return self.rows // self.warp_rows * (self.columns // self.warp_columns) * 32

    @property
    def shared_bytes(self) -> int:
        return self.stages * (self.rows + self.columns) * self.line_bytes


RUNG = Tiling(128, 128, 64, 32, 64, 4)  # of tiled and pipelined, as in their files
LARGE = Tiling(128, 256, 64, 64, 64, 4)
GROUP = 16  # rows of tiles that are walked column by column


def mma_simple(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """16 x 8 results per warp, operands gathered from device memory. Raises ``ValueError`` for shapes that do not
    multiply."""
    m, n, _ = _extents(a, b, c)
    function = MMA_SIMPLE.function(f"matmul_tensor_mma_simple<{c_type(a)}, {c_type(c)}>")
    function((ceil_div(m, 16) * ceil_div(n, 32),), (128,), _arguments(a, b, c))


def tiled(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """Tiles of 128 x 128 in shared memory. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, _ = _extents(a, b, c)
    function = TILED.function(f"matmul_tensor_tiled<{c_type(a)}, {c_type(c)}, {_access(a, b)}>")
    function((ceil_div(m, RUNG.rows) * ceil_div(n, RUNG.columns),), (RUNG.threads,), _arguments(a, b, c))


def pipelined(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """As ``tiled`` with four tiles on their way. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, _ = _extents(a, b, c)
    function = PIPELINED.function(f"matmul_tensor_pipelined<{c_type(a)}, {c_type(c)}, {_access(a, b)}>")
    grid = (ceil_div(m, RUNG.rows) * ceil_div(n, RUNG.columns),)
    function(grid, (RUNG.threads,), _arguments(a, b, c), RUNG.shared_bytes)


def tuned(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """Tiles of 128 x 256, grouped blocks, results through shared memory. Raises ``ValueError`` for shapes that do not
    multiply."""
    launch_tuned(a, b, c, LARGE, GROUP)


def launch_tuned(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, tiling: Tiling, group: int) -> None:
    """``tuned`` with another tiling. Raises ``ValueError`` for shapes that do not multiply."""
    m, n, _ = _extents(a, b, c)
    t = tiling
    parts = f"{t.rows}, {t.columns}, {t.warp_rows}, {t.warp_columns}, {t.line_bytes}, {t.stages}"
    function = TUNED.function(f"matmul_tensor_tuned<{c_type(a)}, {c_type(c)}, {parts}, {_access(a, b)}>")
    arguments = (*_arguments(a, b, c), group, _aligned(c))
    function((ceil_div(m, t.rows) * ceil_div(n, t.columns),), (t.threads,), arguments, t.shared_bytes)


def automatic(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """Hopper's own instructions where the GPU has them and the copy engine takes the matrices, else ``tuned``.

    Raises ``ValueError`` for shapes that do not multiply, and for fp8 matrices that the copy engine does not take,
    :class:`GpuNeeded` for fp8 elsewhere: mma.sync of sm_80 has no such operands.
    """
    bytes_of_float = a.dtype is torch.float8_e4m3fn
    here = hopper.available(c.device)
    if bytes_of_float and not here:
        raise GpuNeeded(f"products of {a.dtype} need a GPU of {hopper.ARCH}")
    if here and (bytes_of_float or not hopper.problem(a, b, c)):
        hopper.best(a, b, c)
    else:
        tuned(a, b, c)


def _extents(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[int, int, int]:
    (m, k), (_, n) = a.shape, b.shape
    fits = b.shape == (k, n) and c.shape == (m, n)
    require(fits, f"{tuple(a.shape)} times {tuple(b.shape)} is not {tuple(c.shape)}")
    return m, n, k


def _arguments(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor | int, ...]:
    return (a, b, c, a.shape[0], b.shape[1], a.shape[1], *a.stride(), *b.stride(), *c.stride())


def _access(a: torch.Tensor, b: torch.Tensor) -> str:
    """How kernels read the operands, as template arguments: pieces of 16 bytes, aligned or not, where they can.

    Pieces of a row of b hold one k each, which only ldmatrix (16 bits) and 32-bit loads take apart.
    """
    if a.stride(1) != 1 or (b.stride(0) != 1 and (b.stride(1) != 1 or b.element_size() == 1)):
        return "Access::SCATTERED, Access::SCATTERED"
    by_columns = b.stride(0) == 1
    how = "ALONG" if _aligned(a) and _aligned(b.T if by_columns else b) else "REALIGNED"
    return f"Access::{how}_K, Access::{how}_{'K' if by_columns else 'LINES'}"


def _aligned(matrix: torch.Tensor) -> bool:
    """Whether every row is dense and begins at a multiple of 16 bytes."""
    row, column = matrix.stride()
    return column == 1 and misalignment(matrix, CHUNK) == 0 and row * matrix.element_size() % CHUNK == 0
