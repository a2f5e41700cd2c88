"""A kernel loaded on one GPU. Memory for its arguments is laid out once; a launch fills it in and calls the driver.

CuPy loads the kernel, but its launch makes objects of three libraries out of each argument. Here a launch costs a check
and a store per argument and one foreign call (``benchmarks/launch_cost.py``).
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch

from pytest_roofline import signature

STATIC_SHARED_BYTES = 48 * 1024  # a kernel must ask for more than this, CUDA C++ programming guide

_INVALID_CONTEXT = 201  # CUDA_ERROR_INVALID_CONTEXT, cuda.h
_CELLS: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "uint8": ctypes.c_uint8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "uint32": ctypes.c_uint32,
    "int64": ctypes.c_int64,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}

Extents = tuple[int, int, int]
Put = Callable[[Any], None]


class LaunchError(RuntimeError):
    """The driver refused a launch."""


class LoadedKernel:
    """One kernel on one GPU: ``raw`` is CuPy's ``RawKernel`` of it, ``parameters`` its signature.

    Launches from several threads take turns. Raises ``TypeError`` for a parameter that nothing can be passed for.
    """

    def __init__(self, raw: Any, parameters: Sequence[signature.Parameter]) -> None:
        self.raw = raw
        self._function = ctypes.c_void_p(raw.kernel.ptr)
        arguments = [_argument(parameter) for parameter in parameters]
        self._puts = tuple(put for _, put in arguments)
        cells = [cell for cell, _ in arguments]
        self._addresses = (ctypes.c_void_p * len(cells))(*map(ctypes.addressof, cells))
        self._shared_bytes = STATIC_SHARED_BYTES
        self._turn = threading.Lock()

    def launch(self, grid: Extents, block: Extents, args: Sequence[Any], shared_bytes: int, stream: int) -> None:
        """Launch on ``stream``, a raw handle of the current device's; ``args`` has one entry per parameter.

        Raises ``TypeError`` and ``OverflowError`` (an argument against its parameter) and :class:`LaunchError`.
        """
        if shared_bytes > self._shared_bytes:
            self.raw.max_dynamic_shared_size_bytes = self._shared_bytes = shared_bytes
        with self._turn:
            for put, value in zip(self._puts, args, strict=True):
                put(value)
            launch = (self._function, *grid, *block, shared_bytes, _pointer(stream), self._addresses, None)
            status = _driver().cuLaunchKernel(*launch)
            if status == _INVALID_CONTEXT:  # this thread has not called CUDA's runtime yet
                _make_context_current()
                status = _driver().cuLaunchKernel(*launch)
        if status:
            raise LaunchError(f"the driver refused to launch a kernel: {_described(status)}")


def _argument(parameter: signature.Parameter) -> tuple[Any, Put]:
    """Memory for one argument, and what stores a value there once it has been held against the parameter."""
    return _pointer_argument(parameter) if parameter.pointer else _scalar_argument(parameter)


def _pointer_argument(parameter: signature.Parameter) -> tuple[Any, Put]:
    cell = ctypes.c_void_p()
    wanted = torch_dtype(parameter)

    def put(value: Any) -> None:
        if isinstance(value, torch.Tensor) and value.dtype is wanted:
            cell.value = value.data_ptr()
        else:
            refuse(parameter, value)

    return cell, put


def _scalar_argument(parameter: signature.Parameter) -> tuple[Any, Put]:
    plain, low, high = signature.plain_range(parameter)
    cell = _CELLS[str(parameter.c_type.numpy_name)]()

    def put(value: Any) -> None:
        if type(value) is plain and low <= value <= high:
            cell.value = value
        else:
            cell.value = signature.scalar(parameter, value).item()

    return cell, put


def torch_dtype(parameter: signature.Parameter) -> torch.dtype:
    """The element type of tensors that a pointer takes. Raises ``TypeError`` for a type that torch does not have."""
    found = getattr(torch, str(parameter.c_type.torch_name))
    assert isinstance(found, torch.dtype)
    return found


def refuse(parameter: signature.Parameter, value: Any) -> None:
    """Raise the ``TypeError`` of a value that is no tensor for the pointer."""
    got = value.dtype if isinstance(value, torch.Tensor) else type(value).__name__
    raise TypeError(f"parameter {parameter} takes a {torch_dtype(parameter)} tensor, got {got}")


@functools.cache
def _driver() -> Any:
    # Without declared argument types: Python's integers are C's int, which every grid extent fits, and all that is
    # wider is passed as an object of its type. Declared ones cost a microsecond per launch.
    return ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")


@functools.cache
def _pointer(handle: int) -> ctypes.c_void_p:
    return ctypes.c_void_p(handle)


def _make_context_current() -> None:
    import cupy

    cupy.cuda.runtime.free(0)


def _described(status: int) -> str:
    name, text = ctypes.c_char_p(), ctypes.c_char_p()
    _driver().cuGetErrorName(status, ctypes.byref(name))
    _driver().cuGetErrorString(status, ctypes.byref(text))
    known = [t.value.decode() for t in (name, text) if t.value]
    return ": ".join(known) or f"error {status}"
