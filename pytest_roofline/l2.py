"""What L2 keeps: a tensor while kernels run, by CUDA's access-policy window, and what is read rather than written.

A kernel launched inside :func:`persisting` inherits the window whatever language it is written in. Sources: CUDA C++
programming guide, "L2 cache control"; driver API, stream attributes and limits of a context.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator
from typing import Any

import torch

# Bytes that a kernel must read and write for it to gain from reads that L2 evicts last. Copies of 192 to 1024 MiB in
# all on an H200, whose L2 has 50 MiB, were 1 to 2 % slower up to 352 MiB, equal at 384, and 1.0 to 1.4 % faster from
# 448 on. In a short kernel it counts more how much of the result may stay in L2 unwritten.
STREAM_BYTES = 400 << 20

_ACCESS_POLICY_WINDOW = 1  # CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
_PERSISTING_L2_CACHE_SIZE = 6  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE
_MAX_WINDOW = 109  # CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE
_NORMAL, _STREAMING, _PERSISTING = 0, 1, 2  # CUaccessProperty


class _Window(ctypes.Structure):
    """CUaccessPolicyWindow, padded to the size of the union that holds it."""

    _fields_ = (
        ("base", ctypes.c_void_p),
        ("nbytes", ctypes.c_size_t),
        ("hit_ratio", ctypes.c_float),
        ("hit", ctypes.c_int),
        ("miss", ctypes.c_int),
        ("padding", ctypes.c_char * 32),
    )


def streamed(nbytes: int, tensor: torch.Tensor) -> bool:
    """Whether a kernel that reads and writes so many bytes, where ``tensor`` is, should let L2 evict last what it read.

    On GPUs before Hopper, of which none was measured, it should not.
    """
    return nbytes >= STREAM_BYTES and _is_hopper(tensor.device)


@functools.cache
def _is_hopper(device: torch.device) -> bool:
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (9, 0)


@contextlib.contextmanager
def persisting(tensor: torch.Tensor) -> Iterator[None]:
    """Launches of the body on torch's current stream keep ``tensor`` in the part of L2 that is set aside for this.

    Of a larger tensor a share is kept that fits, so that it does not evict itself. The set-aside part stays as large as
    the context has it: on an H200 the largest one, 37.5 MiB, slowed a copy of 20 MiB within L2 from 8.9 to 25.2 us.
    On leaving, later launches are free of the window. Does nothing for a tensor on a CPU. Raises ``RuntimeError`` with
    CUDA's error code.
    """
    if not tensor.is_cuda or not tensor.numel():
        yield
        return
    stream = ctypes.c_void_p(torch.cuda.current_stream(tensor.device).cuda_stream)
    kept, widest = _set_aside(), _widest_window(tensor.device.index)
    nbytes = min(tensor.nbytes, widest)
    _set(stream, _Window(tensor.data_ptr(), nbytes, min(1.0, kept / nbytes), _PERSISTING, _STREAMING))
    try:
        yield
    finally:
        _set(stream, _Window(None, 0, 0.0, _NORMAL, _NORMAL))


def _set(stream: ctypes.c_void_p, window: _Window) -> None:
    _call(_driver().cuStreamSetAttribute, stream, _ACCESS_POLICY_WINDOW, ctypes.byref(window))


def _set_aside() -> int:
    """Bytes of L2 that the current context sets aside for persisting accesses."""
    found = ctypes.c_size_t()
    _call(_driver().cuCtxGetLimit, ctypes.byref(found), _PERSISTING_L2_CACHE_SIZE)
    return found.value


@functools.cache
def _widest_window(device: int) -> int:
    """Bytes of the widest window."""
    found = ctypes.c_int()
    _call(_driver().cuDeviceGetAttribute, ctypes.byref(found), _MAX_WINDOW, device)
    return found.value


@functools.cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _call(function: Any, *arguments: Any) -> None:
    error = function(*arguments)
    if error:
        raise RuntimeError(f"{function.__name__} failed with CUDA error {error}")
