"""Tensor maps: how a kernel tells the copy engine of sm_90 (TMA) where a matrix lies and what box of it to copy.

A kernel takes one by value, ``const __grid_constant__ TensorMap map`` with a 64-byte aligned ``struct TensorMap`` of
128 bytes, so that a launch, also one captured into a CUDA graph, keeps its own copy. The driver fills in those bytes
when the map is first launched with. Sources: CUDA driver API, "Tensor Map Object Management"; CUDA C++ programming
guide, "Using TMA to transfer multi-dimensional arrays".
"""

from __future__ import annotations

import ctypes
import enum
import functools
from dataclasses import dataclass

import torch

NBYTES = 128  # of an encoded map
ALIGNMENT = 16  # of the base and of the pitch, in bytes
BOX_LIMIT = 256  # elements of a box in each direction

_MAP_ALIGNMENT = 64  # of the memory that the driver writes a map to
_TYPES = {  # CUtensorMapDataType, cuda.h
    torch.uint8: 0,
    torch.int8: 0,
    torch.float8_e4m3fn: 0,
    torch.int32: 3,
    torch.float16: 6,
    torch.float32: 7,
    torch.float64: 8,
    torch.bfloat16: 9,
}
_PROMOTE_TO_256_BYTES = 3  # CU_TENSOR_MAP_L2_PROMOTION_L2_256B
_ZEROS = 0  # CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE: what lies outside reads as zero, and is not written
_DENSE = 0  # CU_TENSOR_MAP_INTERLEAVE_NONE


class Swizzle(enum.IntEnum):
    """How the 16-byte parts of a box's rows are permuted in shared memory (CUtensorMapSwizzle): not, or with the row
    number within lines of so many bytes, which a row of the box must not exceed."""

    NONE = 0
    BYTES_32 = 1
    BYTES_64 = 2
    BYTES_128 = 3

    @property
    def line(self) -> int | None:
        """Bytes of a line; ``None`` without swizzling."""
        return 16 << self if self else None


@dataclass(frozen=True)
class TensorMap:
    """A matrix of ``rows`` x ``columns`` elements, its rows ``pitch`` bytes apart, and a box of (rows, columns)."""

    address: int
    dtype: torch.dtype
    rows: int
    columns: int
    pitch: int
    box: tuple[int, int]
    swizzle: Swizzle
    device: torch.device

    @functools.cached_property
    def encoded(self) -> bytes:
        """The bytes that a kernel takes. Raises ``RuntimeError`` where the driver refuses the map, ``OSError`` without
        a driver."""
        memory = ctypes.create_string_buffer(NBYTES + _MAP_ALIGNMENT)
        start = -ctypes.addressof(memory) % _MAP_ALIGNMENT
        error = _driver().cuTensorMapEncodeTiled(
            ctypes.c_void_p(ctypes.addressof(memory) + start),
            _TYPES[self.dtype],
            2,
            ctypes.c_void_p(self.address),
            (ctypes.c_uint64 * 2)(self.columns, self.rows),
            (ctypes.c_uint64 * 1)(self.pitch),
            (ctypes.c_uint32 * 2)(*self.box[::-1]),
            (ctypes.c_uint32 * 2)(1, 1),
            _DENSE,
            int(self.swizzle),
            _PROMOTE_TO_256_BYTES,
            _ZEROS,
        )
        if error:
            raise RuntimeError(f"cuTensorMapEncodeTiled failed with CUDA error {error} for {self}")
        return memory.raw[start : start + NBYTES]

    def get_device(self) -> int:
        """As of a tensor: the number of its GPU, -1 for the CPU."""
        return -1 if self.device.index is None else self.device.index


def tensor_map(matrix: torch.Tensor, box: tuple[int, int], swizzle: Swizzle = Swizzle.BYTES_128) -> TensorMap:
    """The map of a matrix whose rows are dense; a matrix seen before costs a look-up.

    Copies of parts that lie outside the matrix read zeros and write nothing. Raises ``ValueError`` for what the copy
    engine cannot take: see :func:`refusal`; boxes beyond its limits.
    """
    rows, columns = matrix.shape
    return _tensor_map(matrix.data_ptr(), matrix.dtype, rows, columns, matrix.stride(), box, swizzle, matrix.device)


def refusal(address: int, itemsize: int, columns: int, strides: tuple[int, int]) -> str:
    """Why the copy engine cannot take a matrix; empty if it can. ``address`` in bytes, ``strides`` in elements."""
    row, column = strides
    if column != 1 and columns > 1:
        return "its rows are not dense"
    if address % ALIGNMENT:
        return f"it starts {address % ALIGNMENT} bytes past a multiple of {ALIGNMENT}"
    if row * itemsize % ALIGNMENT:
        return f"its rows are {row * itemsize} bytes apart, no multiple of {ALIGNMENT}"
    return ""


def store_refusal(address: int, itemsize: int, columns: int, strides: tuple[int, int]) -> str:
    """Why the copy engine must not store to a matrix; empty if it may. It writes whole pieces of 16 bytes, so that rows
    must end with one: what lies between them is not the matrix's."""
    over = columns * itemsize % ALIGNMENT
    ends = f"its rows end {over} bytes past a multiple of {ALIGNMENT}" if over else ""
    return refusal(address, itemsize, columns, strides) or ends


@functools.lru_cache(maxsize=4096)
def _tensor_map(
    address: int,
    dtype: torch.dtype,
    rows: int,
    columns: int,
    strides: tuple[int, int],
    box: tuple[int, int],
    swizzle: Swizzle,
    device: torch.device,
) -> TensorMap:
    if dtype not in _TYPES:
        raise ValueError(f"the copy engine does not know {dtype}")
    if not rows or not columns:
        raise ValueError("the copy engine takes no empty matrix")
    problem = refusal(address, dtype.itemsize, columns, strides)
    if problem:
        raise ValueError(f"the copy engine cannot take a matrix of {rows} x {columns} {dtype}: {problem}")
    line = box[1] * dtype.itemsize
    if not all(0 < extent <= BOX_LIMIT for extent in box) or line % ALIGNMENT or (swizzle.line or line) < line:
        raise ValueError(f"no box of {box[0]} x {box[1]} {dtype} can be copied with a swizzle of {swizzle.line} bytes")
    return TensorMap(address, dtype, rows, columns, strides[0] * dtype.itemsize, box, swizzle, device)


@functools.cache
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")
