"""torch's current stream, as a raw handle and as CuPy's object."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch


@contextlib.contextmanager
def on_torch_stream(device: torch.device) -> Iterator[Any]:
    """CuPy, working on torch's current stream of ``device``. Raises ``ModuleNotFoundError`` where it is missing."""
    try:
        import cupy
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "CUDA C++ kernels need CuPy on a GPU: pip install 'pytest-roofline[cuda13]' (cuda12 for older drivers)",
            name="cupy",
        ) from error
    with cupy.cuda.Device(device.index), torch_stream(device.index):
        yield cupy


def _public_stream_handle(index: int) -> int:
    return int(torch.cuda.current_stream(index).cuda_stream)


# What the public function comes to, without a look at whether CUDA is initialised and two objects for a stream; Triton
# and Inductor call the same in each launch.
stream_handle: Callable[[int], int] = getattr(torch._C, "_cuda_getCurrentRawStream", _public_stream_handle)
"""The raw handle of torch's current stream on a device."""


def torch_stream(index: int) -> Any:
    """CuPy's object for torch's current stream on a device."""
    return _stream(stream_handle(index))


class _StreamHandle:
    """The CUDA stream protocol around a raw handle; torch's own streams speak it only in recent versions."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


@functools.cache
def _stream(handle: int) -> Any:
    import cupy

    if hasattr(cupy.cuda.Stream, "from_external"):
        return cupy.cuda.Stream.from_external(_StreamHandle(handle))
    return cupy.cuda.ExternalStream(handle)
