"""Library routines timed beside the kernels: what a user would call instead.

Results go into the caller's tensors. Scratch memory that a library insists on comes from torch's allocator, whose
private pool makes it safe inside a captured CUDA graph.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import torch

from pytest_roofline.launch import on_torch_stream


def torch_vector_add(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y += x``."""
    y.add_(x)


def cupy_vector_add(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y += x``; CuPy compiles an elementwise kernel for it."""
    with _cupy(y) as cupy:
        out = cupy.asarray(y)
        cupy.add(cupy.asarray(x), out, out=out)


def torch_sum(x: torch.Tensor, total: torch.Tensor) -> None:
    """``total[0] = x.sum()``; torch takes scratch memory for its second stage."""
    torch.sum(x, dim=0, keepdim=True, dtype=total.dtype, out=total)


def cupy_sum(x: torch.Tensor, total: torch.Tensor) -> None:
    """``total[0] = x.sum()`` by CUB's device-wide reduction, which takes scratch memory, and a copy of its result."""
    with _cupy(x) as cupy:
        cupy.sum(cupy.asarray(x), axis=0, keepdims=True, out=cupy.asarray(total))


def torch_transpose(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = x.T``: what ``x.T.contiguous()`` runs, without its allocation."""
    y.copy_(x.t())


def torch_matmul(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """``c = a @ b`` by cuBLAS, kept off the tensor cores."""
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        torch.mm(a, b, out=c)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed


@contextlib.contextmanager
def _cupy(tensor: torch.Tensor) -> Iterator[Any]:
    """CuPy on torch's current stream, with torch's memory."""
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
