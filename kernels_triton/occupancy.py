"""y = 2 x with a given number of warps on each SM: only as many programs are launched as make them."""

import functools

import torch
import triton
import triton.language as tl

from pytest_roofline.launch import ceil_div, require

WARPS = (4, 8, 16, 32, 64)
WARPS_OF_A_PROGRAM = 4
SMS_OF_A_CPU = 2  # a machine without a GPU walks over the blocks like a very small one


@triton.jit
def _scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # A program walks over blocks a grid apart. Its loads of one block are under way together, those of two are not.
    for start in range(tl.program_id(0).to(tl.int64) * BLOCK, n, tl.num_programs(0).to(tl.int64) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        inside = offsets < n
        tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=inside), mask=inside)


def occupancy(x: torch.Tensor, y: torch.Tensor, *, warps: int, ilp: int) -> None:
    """``y = 2 x`` with ``warps`` warps on an SM at once and ``ilp`` loads of 4 bytes per thread under way.

    Raises ``ValueError`` for a number of warps that programs of four cannot give, and unless both are dense vectors.
    """
    require(warps in WARPS, f"occupancy takes one of {WARPS} warps")
    require(x.shape == y.shape and x.is_contiguous() and y.is_contiguous(), "occupancy takes two dense equal vectors")
    block = 32 * WARPS_OF_A_PROGRAM * ilp
    blocks = ceil_div(y.numel(), block)
    if blocks:
        programs = min(blocks, sms(x.get_device()) * warps // WARPS_OF_A_PROGRAM)
        _scale[(programs,)](x, y, y.numel(), BLOCK=block, num_warps=WARPS_OF_A_PROGRAM, num_stages=1)


@functools.cache
def sms(device: int) -> int:
    """Streaming multiprocessors of a GPU."""
    return SMS_OF_A_CPU if device < 0 else int(torch.cuda.get_device_properties(device).multi_processor_count)
