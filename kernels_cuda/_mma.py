"""What launchers of products through mma.sync share: tilings, how operands are read, and what is checked."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch

from pytest_roofline.launch import misalignment

CHUNK = 16  # bytes of the widest access
CPU_MULTIPROCESSORS = 4


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

    def staging_bytes(self, itemsize: int) -> int:
        """Shared memory for 16 rows of results of every warp, padded as the kernels pad them."""
        row = self.warp_columns * itemsize + (16 if itemsize == 2 else 32)
        return self.threads // 32 * 16 * row

    @property
    def elements(self) -> int:
        return self.rows * self.columns

    @property
    def parameters(self) -> str:
        """As the kernels' template arguments."""
        warp = f"{self.warp_rows}, {self.warp_columns}"
        return f"{self.rows}, {self.columns}, {warp}, {self.line_bytes}, {self.stages}"


def require_result(a: torch.Tensor, c: torch.Tensor) -> None:
    """Raise ``TypeError`` unless results of 16 or 32 bits are stored to c, as the kernels can."""
    if c.element_size() not in (2, 4):
        raise TypeError(f"a product of {a.dtype} on tensor cores is not stored as {c.dtype}")


def arguments(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor | int, ...]:
    """The matrices, m, n, k and all strides. Raises ``TypeError`` for results that kernels cannot store."""
    require_result(a, c)
    return (a, b, c, a.shape[0], b.shape[1], a.shape[1], *a.stride(), *b.stride(), *c.stride())


def access(a: torch.Tensor, b: torch.Tensor) -> str:
    """How kernels read the operands, as template arguments: in pieces of 16 bytes, aligned or not, where they can.

    Pieces of a row of b hold one k each, which only ldmatrix (16 bits) and 32-bit loads take apart; bytes are turned,
    where all pieces are aligned. What lies neither along k nor along rows of b is gathered.
    """
    by_columns = b.stride(0) == 1
    along_k, dense = a.stride(1) == 1, by_columns or b.stride(1) == 1
    whole = along_k and dense and aligned(a) and aligned(b.T if by_columns else b)
    how = "ALONG" if whole else "REALIGNED"
    of_a = f"{how}_K" if along_k else "SCATTERED"
    of_b = f"{how}_{'K' if by_columns else 'LINES'}" if dense else "SCATTERED"
    if b.element_size() == 1 and not by_columns:
        of_b = "TURNED" if whole else "SCATTERED"
    return f"Access::{of_a}, Access::{of_b}"


def multiprocessors(tensor: torch.Tensor) -> int:
    """Of the tensor's device; of a CPU few, so that small matrices are shared out there, too."""
    return CPU_MULTIPROCESSORS if tensor.device.type == "cpu" else _multiprocessors(tensor.get_device())


@functools.cache
def _multiprocessors(device: int) -> int:
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def aligned(matrix: torch.Tensor) -> bool:
    """Whether every row is dense and begins at a multiple of 16 bytes."""
    row, column = matrix.stride()
    return column == 1 and misalignment(matrix, CHUNK) == 0 and row * matrix.element_size() % CHUNK == 0
