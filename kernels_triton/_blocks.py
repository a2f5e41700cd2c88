"""What kernels over dense vectors and their launchers share."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from pytest_roofline.l2 import streamed
from pytest_roofline.launch import ceil_div

from ._launch import launch

PACK = 16  # bytes of the widest access of one thread
NARROW = 1 << 31  # vectors with fewer elements are indexed with 32 bits, which small ones notice

# Warps of a program by bytes of a vector, from a sweep over 4 to 16 warps and 1 to 8 packs of 16 bytes per thread of
# copy, add_one, vector_add and fma from 4 KiB to 512 MiB on an H200; no other device was measured. One pack per thread
# won everywhere. Eight warps win in between; four where the vector is a handful of programs, because more SMs share it,
# and where it fills the device for long.
WARPS, FEW_WARPS, FEW_BYTES, MANY_BYTES = 8, 4, 1 << 13, 1 << 23


@triton.jit
def block_start(BLOCK: tl.constexpr, WIDE: tl.constexpr):
    """First element of this program's block; 64 bits are slower, and needed only where program x BLOCK passes 2^31."""
    program = tl.program_id(0)
    if WIDE:
        program = program.to(tl.int64)
    return program * BLOCK


def best_block(tensor: torch.Tensor) -> tuple[int, int]:
    """Elements of a block, one pack per thread, and warps of a program for a vector of that size."""
    num_warps = WARPS if FEW_BYTES < tensor.nbytes <= MANY_BYTES else FEW_WARPS
    return 32 * num_warps * PACK // tensor.element_size(), num_warps


def eviction(tensor: torch.Tensor, count: int = 2) -> str:
    """L2's policy for what a kernel reads that reads and writes so many of these in all, as Triton calls it."""
    return "evict_last" if streamed(count * tensor.nbytes, tensor) else ""


def launch_blocks(kernel: Any, *tensors: torch.Tensor, block: int, num_warps: int, **constants: str) -> None:
    """Launch ``kernel(tensors..., n, BLOCK, WIDE, WHOLE)`` with one program per block; ``constants`` are further ones.

    ``WHOLE`` promises that no block is cut off. Where all vectors start equally far past a 16-byte boundary, the
    elements before the next one get a launch of their own: Triton specialises on pointers divisible by 16, and only
    those give wide accesses.
    """
    n, shifts = tensors[0].numel(), {t.data_ptr() % PACK for t in tensors}
    if n and len(shifts) == 1 and (shift := shifts.pop()):
        head = min(n, (PACK - shift) // tensors[0].element_size())
        first = {"BLOCK": PACK, "WIDE": False, "WHOLE": False, "num_warps": 1, **constants}
        launch(kernel, (1,), *(t[:head] for t in tensors), head, **first)
        n, tensors = n - head, tuple(t[head:] for t in tensors)
    if n:
        grid = (ceil_div(n, block),)
        wide, whole = n > NARROW - block, n % block == 0
        launch(kernel, grid, *tensors, n, BLOCK=block, WIDE=wide, WHOLE=whole, num_warps=num_warps, **constants)
