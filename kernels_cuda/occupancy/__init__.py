"""y = 2 x with a given number of warps on each SM, in CUDA C++: dynamic shared memory limits the blocks of an SM."""

import functools
from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div, require

BLOCK = 128
WARPS = (4, 8, 16, 32, 64)
RESERVED = 1024  # bytes of shared memory that CUDA takes of each block from compute capability 8.0 on, tuning guides
GRANULE = 128  # bytes in which shared memory is allocated

ILP = Source(Path(__file__).with_name("ilp.cu"))


def occupancy(x: torch.Tensor, y: torch.Tensor, *, warps: int, ilp: int) -> None:
    """``y = 2 x`` with ``warps`` warps on an SM at once and ``ilp`` loads per thread under way.

    Raises ``ValueError`` for a number of warps that blocks of four cannot give, and unless both are dense vectors.
    """
    require(warps in WARPS, f"occupancy takes one of {WARPS} warps")
    require(x.shape == y.shape and x.is_contiguous() and y.is_contiguous(), "occupancy takes two dense equal vectors")
    shared = limiting_bytes(warps * 32 // BLOCK, x.get_device()) if x.is_cuda else 0
    n = y.numel()
    ILP.function(f"occupancy<{ilp}>")((ceil_div(n, BLOCK * ilp),), (BLOCK,), (x, y, n), shared)


@functools.cache
def limiting_bytes(blocks: int, device: int) -> int:
    """Dynamic shared memory with which exactly ``blocks`` blocks fit into an SM; most of a block's limit for one."""
    properties = torch.cuda.get_device_properties(device)
    share = properties.shared_memory_per_multiprocessor // blocks - RESERVED
    return int(min(share, properties.shared_memory_per_block_optin) // GRANULE * GRANULE)
