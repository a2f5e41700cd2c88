"""A kernel loaded on one GPU. Memory for its arguments is laid out once; a launch fills it in and calls the driver.

CuPy loads the kernel and calls the driver, but its own launch makes objects of several libraries out of each argument.
Here plain arguments cost a check each and one ``struct.pack`` together (``benchmarks/launch_cost.py``).
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from pytest_roofline import chain, signature
from pytest_roofline.tensor_map import NBYTES, TensorMap

STATIC_SHARED_BYTES = 48 * 1024  # what is static counted in; a kernel must ask for more, CUDA C++ programming guide

_INVALID_CONTEXT = 201  # CUDA_ERROR_INVALID_CONTEXT, cuda.h
_CODES = {  # of the module struct, by NumPy's name
    "bool": "?",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
}
_NUMBERS = frozenset((int, float))

Extents = tuple[int, int, int]


class LoadedKernel:
    """One kernel on the current GPU, number ``index``: ``raw`` is CuPy's ``RawKernel`` of it, ``image`` its cubin.

    A ``chained`` one may start before the kernel in front of it ends. Launches from several threads take turns. Raises
    ``TypeError`` for a parameter that nothing can be passed for.
    """

    def __init__(
        self,
        raw: Any,
        parameters: Sequence[signature.Parameter],
        index: int,
        image: Path | None = None,
        *,
        chained: bool = False,
    ) -> None:
        from cupy.cuda import driver

        self.index = index
        self.image = image
        self.raw = raw
        self._call, self._function = chain.launch if chained else driver.launchKernel, raw.kernel.ptr
        codes = [_code(p) for p in parameters]
        # A bool has no dtype: where one is expected, no argument is plain.
        kinds = [
            torch_dtype(p) if p.pointer else TensorMap if p.tensor_map else bool if code == "?" else None
            for p, code in zip(parameters, codes, strict=True)
        ]
        self.numbers = tuple(kind is None or kind is bool for kind in kinds)  # of the parameters, which are
        # Apart, because a launch that asks of each argument what it is takes longer.
        self._tensors = tuple((i, kind) for i, kind in enumerate(kinds) if isinstance(kind, torch.dtype))
        self._others = tuple((i, kind) for i, kind in enumerate(kinds) if not isinstance(kind, torch.dtype))
        self._layout, offsets = _laid_out(codes)
        self._memory = ctypes.create_string_buffer(max(self._layout.size, 1))
        start = ctypes.addressof(self._memory)
        self._pointers = (ctypes.c_void_p * max(len(codes), 1))(*[start + offset for offset in offsets])
        self._address = ctypes.addressof(self._pointers)
        self._shared_bytes = STATIC_SHARED_BYTES - raw.shared_size_bytes  # dynamic ones that it may have
        self._turn = threading.Lock()

    def launch_plain(self, grid: Extents, block: Extents, args: Sequence[Any], shared_bytes: int, stream: int) -> bool:
        """Launch if every argument is what it mostly is: a tensor of its type on this GPU, a Python number that fits.

        ``False`` where one is not, and nothing was launched. ``stream`` is a raw handle.
        """
        index, values = self.index, list(args)
        try:
            for i, dtype in self._tensors:
                tensor = values[i]
                if tensor.dtype is not dtype or tensor.get_device() != index:
                    return False
                values[i] = tensor.data_ptr()
            for i, kind in self._others:
                value = values[i]
                if kind is None:
                    if type(value) not in _NUMBERS:
                        return False
                elif kind is TensorMap and type(value) is TensorMap and value.get_device() == index:
                    values[i] = value.encoded
                else:
                    return False
            self.launch(grid, block, values, shared_bytes, stream)
        except (struct.error, OverflowError, AttributeError):
            return False
        return True

    def launch(self, grid: Extents, block: Extents, values: Sequence[Any], shared_bytes: int, stream: int) -> None:
        """Launch with addresses for pointers, encoded tensor maps, and numbers for the rest.

        Raises CuPy's ``CUDADriverError``, ``struct.error`` or ``OverflowError`` for a number that its parameter cannot
        hold.
        """
        if shared_bytes > self._shared_bytes:
            self.raw.max_dynamic_shared_size_bytes = self._shared_bytes = shared_bytes
        with self._turn:
            self._layout.pack_into(self._memory, 0, *values)
            try:
                self._call(self._function, *grid, *block, shared_bytes, stream, self._address, 0)
            except RuntimeError as error:
                if getattr(error, "status", None) != _INVALID_CONTEXT:
                    raise
                _make_context_current()  # this thread has not called CUDA's runtime yet
                self._call(self._function, *grid, *block, shared_bytes, stream, self._address, 0)


def torch_dtype(parameter: signature.Parameter) -> torch.dtype:
    """The element type of tensors that a pointer takes. Raises ``TypeError`` for a type that torch does not have."""
    found = getattr(torch, str(parameter.c_type.torch_name))
    assert isinstance(found, torch.dtype)
    return found


def _laid_out(codes: Sequence[str]) -> tuple[struct.Struct, list[int]]:
    """A layout with each argument at a multiple of its size, and their offsets.

    Explicit about order and padding: only then does ``struct`` refuse a number that a float cannot hold.
    """
    text, offsets = "<", []
    for code in codes:
        text += f"{-struct.calcsize(text) % struct.calcsize('<' + code)}x"
        offsets.append(struct.calcsize(text))
        text += code
    return struct.Struct(text), offsets


def _code(parameter: signature.Parameter) -> str:
    if parameter.pointer:
        return "Q"
    if parameter.tensor_map:
        return f"{NBYTES}s"
    name = parameter.c_type.numpy_name
    if name is None:
        signature.scalar(parameter, 0)  # says why not
    return _CODES[str(name)]


def _make_context_current() -> None:
    import cupy

    cupy.cuda.runtime.free(0)
