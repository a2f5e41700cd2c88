"""What the row-wise launchers share: checks, and how rows are dealt to programs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div


@dataclass(frozen=True)
class Plan:
    """``rows`` of a program, ``block`` columns that cover one, ``num_warps`` of it."""

    rows: int
    block: int
    num_warps: int

    def grid(self, rows: int) -> tuple[int]:
        """Programs for that many rows."""
        return (ceil_div(rows, self.rows),)


# Rows and warps of a program by columns, the fastest of 1 to 8 rows and 1 to 32 warps on an H200: few elements per
# thread, until the barriers of a large program cost more.
_BY_BLOCK = {1024: (1, 2), 2048: (2, 16), 4096: (1, 16), 8192: (1, 16), 16384: (1, 32), 32768: (1, 32)}


NARROW = 1 << 31  # a column number past it takes 64 bits, which are slower


@triton.jit
def extent(columns, WIDE: tl.constexpr):
    """Columns of a row that is met block by block, in 64 bits where those of the block past it need them."""
    if WIDE:
        columns = tl.cast(columns, tl.int64)
    return columns


def looped(columns: int, block: int) -> dict[str, int | bool]:
    """Compile-time arguments of a kernel that meets rows block by block."""
    return {"BLOCK": block, "WIDE": columns > NARROW - 2 * block}


_PROGRAMS = 256  # programs that share out a small matrix: 64 x 64 took 1.2 in place of 1.5 us (softmax)


def plan(x: torch.Tensor, weights: int) -> Plan | None:
    """How to keep whole rows of ``x`` in registers beside so many weights; ``None`` where none fits."""
    rows, columns = x.shape
    block = triton.next_power_of_2(max(columns, 1))
    if block < 1024:
        share = 1 << max(rows // _PROGRAMS, 1).bit_length() - 1
        return Plan(min(16, 1024 // block, share), block, 1)
    if block not in _BY_BLOCK:
        return None
    rows, num_warps = _BY_BLOCK[block]
    if weights == 1 and block == 8192 and x.element_size() == 4:
        num_warps = 32  # rmsnorm has a single reduction: 130.8 us where 16 warps took 133.1
    # With two weights of 16 bits, 16 warps took 75 us and 8 took 68 at 8192 x 8192.
    return Plan(rows, block, num_warps // 2 if weights == 2 and x.element_size() == 2 else num_warps)
