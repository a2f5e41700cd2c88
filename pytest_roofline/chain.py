"""Launches that may start before the kernel in front of them in the stream ends (programmatic dependent launch).

CuPy has no such launch, so the driver is called here. Sources: CUDA driver API, ``cuLaunchKernelEx``; CUDA C++
programming guide, "Programmatic Dependent Launch and Synchronization".
"""

from __future__ import annotations

import ctypes
import functools

_PROGRAMMATIC_STREAM_SERIALIZATION = 6  # CUlaunchAttributeID, cuda.h


class ChainedLaunchError(RuntimeError):
    """The driver refused a launch; ``status`` is its CUresult."""

    def __init__(self, status: int) -> None:
        super().__init__(f"cuLaunchKernelEx failed with CUDA error {status}")
        self.status = status


class _Attribute(ctypes.Structure):
    _fields_ = (
        ("id", ctypes.c_int),
        ("padding", ctypes.c_char * 4),
        ("value", ctypes.c_int),
        ("rest", ctypes.c_char * 60),
    )


class _Config(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint),
    )


_CHAINED = _Attribute(id=_PROGRAMMATIC_STREAM_SERIALIZATION, value=1)


def launch(
    function: int,
    grid_x: int,
    grid_y: int,
    grid_z: int,
    block_x: int,
    block_y: int,
    block_z: int,
    shared_bytes: int,
    stream: int,
    parameters: int,
    extra: int,
) -> None:
    """As CuPy's ``driver.launchKernel``: handles and addresses as numbers, ``extra`` unused.

    Raises :class:`ChainedLaunchError`.
    """
    grid, block = (ctypes.c_uint * 3)(grid_x, grid_y, grid_z), (ctypes.c_uint * 3)(block_x, block_y, block_z)
    config = _Config(grid, block, shared_bytes, stream, ctypes.pointer(_CHAINED), 1)
    error = _driver().cuLaunchKernelEx(
        ctypes.byref(config), ctypes.c_void_p(function), ctypes.c_void_p(parameters), ctypes.c_void_p(extra or None)
    )
    if error:
        raise ChainedLaunchError(error)


@functools.cache
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")
