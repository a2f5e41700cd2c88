"""What the row-wise launchers share: checks, and how rows are dealt to programs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton

from pytest_roofline.launch import ceil_div, require


@dataclass(frozen=True)
class Plan:
    """``rows`` of a program, ``block`` columns that cover one, ``num_warps`` of it."""

    rows: int
    block: int
    num_warps: int

    def grid(self, rows: int) -> tuple[int]:
        """Programs for that many rows."""
        return (ceil_div(rows, self.rows),)


def extents(x: torch.Tensor, y: torch.Tensor, *weights: torch.Tensor) -> tuple[int, int]:
    """Rows and columns. Raises ``ValueError`` unless all tensors belong together and their rows are dense."""
    rows, columns = x.shape
    require(y.shape == x.shape, f"the result of {rows} x {columns} is not {' x '.join(map(str, y.shape))}")
    for weight in weights:
        require(tuple(weight.shape) == (columns,), f"a weight of {tuple(weight.shape)} is not one per column")
    dense = all(t.stride(-1) == 1 or t.shape[-1] <= 1 for t in (x, y, *weights))
    require(dense, "row-wise kernels take a dense row at a time")
    return rows, columns


def plan(columns: int) -> Plan | None:
    """How to keep whole rows in registers: 32 elements per thread where a row has so many; ``None`` where none fits."""
    block = triton.next_power_of_2(max(columns, 1))
    if block > 32768:
        return None
    if block <= 1024:
        return Plan(max(1, min(16, 1024 // block)), block, 4)
    return Plan(1, block, min(32, block // 512))
