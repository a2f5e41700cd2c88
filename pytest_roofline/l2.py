"""Keep one tensor in L2 while a kernel runs: the access-policy window of CUDA, set on torch's current stream.

A kernel launched inside :func:`persisting` inherits the window, also when it is captured into a graph, whatever the
language it is written in. Sources: CUDA C++ programming guide, "L2 cache control"; driver API, stream attributes.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator
from typing import Any

import torch

_ACCESS_POLICY_WINDOW = 1  # CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
_PERSISTING_L2_CACHE_SIZE = 6  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE
_MAX_PERSISTING, _MAX_WINDOW = 108, 109  # CU_DEVICE_ATTRIBUTE_MAX_{PERSISTING_L2_CACHE,ACCESS_POLICY_WINDOW}_SIZE
_NORMAL, _STREAMING, _PERSISTING = 0, 1, 2  # CUaccessProperty


class _Window(ctypes.Structure):
    """CUaccessPolicyWindow, padded to the size of the union that holds it."""

    _fields_ = (
        ("base", ctypes.c_void_p),
        ("nbytes", ctypes.c_size_t),
        ("hit_ratio", ctypes.c_float),
        ("hit", ctypes.c_int),
        ("miss", ctypes.c_int),
        ("padding", ctypes.c_char * 64),
    )


@contextlib.contextmanager
def persisting(tensor: torch.Tensor) -> Iterator[None]:
    """Launches of the body on torch's current stream keep ``tensor`` in L2, as far as the set-aside part holds it.

    Of a larger tensor a random share is kept that fits, so that it does not evict itself; everything outside the window
    is read and written as usual. On leaving, later launches are free of it, but lines already kept stay until
    :func:`release`. Does nothing for a tensor on a CPU. Raises ``RuntimeError`` with CUDA's error code.
    """
    if not tensor.is_cuda or not tensor.numel():
        yield
        return
    driver = _driver()
    stream = ctypes.c_void_p(torch.cuda.current_stream(tensor.device).cuda_stream)
    kept, widest = _set_aside(tensor.device.index)
    nbytes = min(tensor.nbytes, widest)
    window = _Window(tensor.data_ptr(), nbytes, min(1.0, kept / nbytes), _PERSISTING, _STREAMING)
    _call(driver.cuStreamSetAttribute, stream, _ACCESS_POLICY_WINDOW, ctypes.byref(window))
    try:
        yield
    finally:
        nothing = _Window(None, 0, 0.0, _NORMAL, _NORMAL)
        _call(driver.cuStreamSetAttribute, stream, _ACCESS_POLICY_WINDOW, ctypes.byref(nothing))


def release() -> None:
    """Make all lines kept in L2 ordinary ones again. Raises ``RuntimeError`` with CUDA's error code."""
    _call(_driver().cuCtxResetPersistingL2Cache)


@functools.cache
def _set_aside(device: int) -> tuple[int, int]:
    """Set the largest part of L2 aside that the device allows, which other accesses use as long as nothing is kept.

    Returns its bytes and those of the widest window.
    """
    driver = _driver()
    kept, widest = ctypes.c_int(), ctypes.c_int()
    _call(driver.cuDeviceGetAttribute, ctypes.byref(kept), _MAX_PERSISTING, device)
    _call(driver.cuDeviceGetAttribute, ctypes.byref(widest), _MAX_WINDOW, device)
    _call(driver.cuCtxSetLimit, _PERSISTING_L2_CACHE_SIZE, ctypes.c_size_t(kept.value))
    return kept.value, widest.value


@functools.cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _call(function: Any, *arguments: Any) -> None:
    error = function(*arguments)
    if error:
        raise RuntimeError(f"{function.__name__} failed with CUDA error {error}")
