"""What the transfers between host and device share: copies by the copy engine, and the grid of copies by threads."""

from __future__ import annotations

from typing import Any

import torch

from pytest_roofline.launch import GpuNeeded, ceil_div, misalignment, require
from pytest_roofline.operands import require_vectors
from pytest_roofline.streams import torch_stream

BLOCK = 256
PACK = 16  # bytes of one thread


def require_pair(name: str, source: torch.Tensor, target: torch.Tensor) -> None:
    """Raise ``ValueError`` unless both are dense vectors of one length, ``TypeError`` unless of one element type."""
    require_vectors(name, source, target)


def require_packs(name: str, *tensors: torch.Tensor) -> None:
    """Raise ``ValueError`` unless all start at a multiple of 16 bytes."""
    require(all(misalignment(t, PACK) == 0 for t in tensors), f"{name} by threads takes multiples of 16 bytes")


def blocks(n: int) -> int:
    """Blocks that copy n bytes, 16 per thread, and the bytes beside them."""
    return ceil_div(max(n // PACK, n % PACK), BLOCK)


def enqueue_copy(source: torch.Tensor, target: torch.Tensor, stream: Any) -> None:
    """Copy a dense tensor by ``cudaMemcpyAsync`` on a CuPy stream: pageable memory makes the host wait for it."""
    from cupy.cuda import runtime

    nbytes = source.numel() * source.element_size()
    runtime.memcpyAsync(target.data_ptr(), source.data_ptr(), nbytes, runtime.memcpyDefault, stream.ptr)


def copy(name: str, source: torch.Tensor, target: torch.Tensor) -> None:
    """Copy on torch's current stream. Raises ``ValueError`` unless both are dense and of one length, and
    :class:`launch.GpuNeeded` without a GPU."""
    require_pair(name, source, target)
    enqueue_copy(source, target, torch_stream(gpu_of(name, source, target)))


def gpu_of(name: str, *tensors: torch.Tensor) -> int:
    """The GPU that one of them is on. Raises :class:`launch.GpuNeeded` if none is."""
    index = max(t.get_device() for t in tensors)
    if index < 0:
        raise GpuNeeded(f"{name}: there is no GPU here, so nothing lies between host and device")
    return index
