"""CuPy beside torch: on its current stream and with its memory."""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import torch

from pytest_roofline.streams import on_torch_stream


@contextlib.contextmanager
def cupy_on_torch(tensor: torch.Tensor) -> Iterator[Any]:
    """CuPy on torch's current stream of the tensor's device, with torch's memory."""
    with on_torch_stream(tensor.device) as cupy, cupy.cuda.using_allocator(_torch_memory()):
        yield cupy


@functools.cache
def _torch_memory() -> Any:
    import cupy

    def allocate(size: int, device: int) -> int:
        return torch.cuda.caching_allocator_alloc(size, device, torch.cuda.current_stream(device))

    def free(pointer: int, device: int) -> None:
        torch.cuda.caching_allocator_delete(pointer)

    return cupy.cuda.PythonFunctionAllocator(allocate, free).malloc
