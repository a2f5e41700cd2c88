"""The runtime's C interface: the structures of ``runtime/abi.hpp`` and the functions that take them."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

CHECK_ACCESSES, CHECK_RACES, COUNT, ALLOW_SAME_VALUE = 1, 2, 4, 8
VALID, INITIALISED = 1, 2
SHARED_REGION, MODULE_REGION = -2, -3
HIDDEN_SPAN = 1 << 63  # added to the size of a thread-local variable that is no shared one
CONSTANT_SPAN = 1 << 62  # added to the size of a variable of the module that a kernel may not write
MAX_SLOTS = 128
SPACES = (
    "block",
    "global load",
    "global store",
    "shared load",
    "shared store",
    "global atomic",
    "shared atomic",
    "global load",  # of a cp.async
    "shared copy",
    "shared load",  # of an ldmatrix
)

_U32, _U64, _I64 = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64


class Fault(ctypes.Structure):
    """One finding as the runtime reports it."""

    _fields_ = [
        ("kind", _U32),
        ("count", _U32),
        ("block", _U32 * 3),
        ("thread", _U32 * 3),
        ("pc", _U64),
        ("other_pc", _U64),
        ("offset", _I64),
        ("region", ctypes.c_int),
        ("line", ctypes.c_int),
        ("symptom", _U32),
        ("other_line", ctypes.c_int),
        ("size", _U64),
        ("file", ctypes.c_char * 256),
        ("text", ctypes.c_char * 384),
    ]


class LineCount(ctypes.Structure):
    """The counts of one place in the code."""

    _fields_ = [
        ("pc", _U64),
        ("kind", _U32),
        ("size", _U32),
        ("requests", _U64),
        ("lanes", _U64),
        ("sectors", _U64),
        ("ideal_sectors", _U64),
        ("wavefronts", _U64),
        ("ideal_wavefronts", _U64),
        ("max_degree", _U64),
        ("merged_requests", _U64),
        ("merged_wavefronts", _U64),
    ]


class Totals(ctypes.Structure):
    """The counts of a whole launch."""

    _fields_ = [
        ("threads", _U64),
        ("blocks", _U64),
        ("barriers", _U64),
        ("collectives", _U64),
        ("switches", _U64),
    ]


class TensorCount(ctypes.Structure):
    """The matrix operations of one place in the source."""

    _fields_ = [
        ("pipeline", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("line", _U64),
        ("executed", _U64),
        ("flops", _U64),
    ]


class Span(ctypes.Structure):
    """A range of addresses."""

    _fields_ = [("low", _U64), ("size", _U64)]


class LaunchSpec(ctypes.Structure):
    """Everything that a launch needs."""

    _fields_ = [
        ("entry", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("grid", _U32 * 3),
        ("block", _U32 * 3),
        ("dynamic_bytes", _U32),
        ("flags", _U32),
        ("slots", _U32),
        ("order", _U32),
        ("seed", _U64),
        ("anchor", _U64),
        ("shared", ctypes.POINTER(Span)),
        ("objects", ctypes.POINTER(Span)),
        ("shared_count", _U64),
        ("objects_count", _U64),
        ("time_limit", ctypes.c_double),
        ("launch_limit", ctypes.c_double),
    ]


class Parameter(ctypes.Structure):
    """A kernel parameter as ``include/rl/entry.hpp`` describes it."""

    _fields_ = [
        ("size", _U32),
        ("element_size", _U32),
        ("kind", ctypes.c_char),
        ("pointer", ctypes.c_uint8),
        ("constant", ctypes.c_uint8),
        ("unused", ctypes.c_uint8),
    ]


def spans(ranges: list[tuple[int, int]]) -> Any:
    """``(low, size)`` pairs as an array of :class:`Span`."""
    return (Span * max(len(ranges), 1))(*(Span(low, size) for low, size in ranges))


def load_runtime(path: Path) -> ctypes.CDLL:
    """The runtime library with its functions' types declared. Raises ``RuntimeError`` if its structures differ."""
    library = ctypes.CDLL(str(path))
    for name, result, arguments in (
        ("rl_open", _U64, [_U32, _U64, _U64]),
        ("rl_map", _U64, [_U32]),
        ("rl_footprint", None, [_U32, ctypes.POINTER(_U64), ctypes.POINTER(_U64)]),
        ("rl_read_only", None, [_U32]),
        ("rl_launch", ctypes.c_int, [ctypes.POINTER(LaunchSpec)]),
        ("rl_faults", ctypes.POINTER(Fault), []),
        ("rl_line_counts", _U64, [ctypes.POINTER(ctypes.POINTER(LineCount))]),
        ("rl_totals", ctypes.POINTER(Totals), []),
        ("rl_tensor_counts", _U64, [ctypes.POINTER(ctypes.POINTER(TensorCount))]),
        ("rl_last_writer", ctypes.c_int, [_U32, _U64, *[ctypes.c_void_p] * 3]),
        ("rl_abi", _U64, []),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    sizes = [ctypes.sizeof(s) for s in (Fault, LineCount, LaunchSpec, Totals, TensorCount)]
    if library.rl_abi() != sum(size * factor for size, factor in zip(sizes, (1000003, 10007, 101, 1, 1), strict=True)):
        raise RuntimeError(f"{path} and abi.py describe different structures")
    return library
