"""Hold the arguments of a launch against the types of the kernel's parameters, and find where their elements lie."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_FLOATS = {4: "float32", 8: "float64"}


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter. ``kind``: f float, i int, u unsigned, b bool, h half, w bfloat16, s struct, v void."""

    name: str
    kind: str
    size: int
    element_size: int
    pointer: bool
    constant: bool

    @property
    def type(self) -> str | None:
        """The dtype that an argument must have; ``None``: any."""
        names = {"f": _FLOATS.get(self.element_size), "h": "float16", "w": "bfloat16", "b": "bool"}
        if self.kind in "iu":
            return f"{'u' if self.kind == 'u' else ''}int{8 * self.element_size}"
        return names.get(self.kind)

    def __str__(self) -> str:
        return f"{self.name} ({self.type or 'struct'}{' pointer' if self.pointer else ''})"


@dataclass(frozen=True)
class View:
    """The elements that one pointer argument may touch. ``placed``: the offset in its allocation."""

    name: str
    low: int  # address of the lowest byte
    high: int  # one past the highest byte
    start: int  # address that the kernel receives
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes
    placed: int  # of `low`
    constant: bool


def convert(kernel: str, parameters: Sequence[Parameter], args: Sequence[Any]) -> list[View | bytes]:
    """One view or one value per parameter. Raises ``TypeError`` naming the parameter and both types."""
    if len(args) != len(parameters):
        wanted = ", ".join(map(str, parameters)) or "none"
        raise TypeError(f"{kernel}: {len(args)} arguments for the parameters {wanted}")
    try:
        return [_pointer(p, a) if p.pointer else _value(p, a) for p, a in zip(parameters, args, strict=True)]
    except TypeError as error:
        raise TypeError(f"{kernel}: {error}") from None


def view_of(array: Any, name: str = "", constant: bool = False) -> View:
    """The elements of a NumPy array or a torch CPU tensor. Raises ``TypeError`` for anything else."""
    if isinstance(array, np.ndarray):
        start, shape, strides, itemsize = array.ctypes.data, array.shape, array.strides, array.itemsize
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        origin = owner.ctypes.data  # where an allocation would start on a GPU
        constant = constant or not array.flags.writeable
    elif _is_tensor(array):
        if array.device.type != "cpu":
            raise TypeError(f"{name}: the tensor lies on {array.device}, not in the CPU's memory")
        start, shape, itemsize = array.data_ptr(), tuple(array.shape), array.element_size()
        strides = tuple(stride * itemsize for stride in array.stride())
        origin = array.untyped_storage().data_ptr()
    else:
        raise TypeError(f"{name}: a tensor or an array is needed, got {type(array).__name__}")
    if 0 in shape:
        return View(name, start, start, start, itemsize, shape, strides, start - origin, constant)
    steps = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    low = start + sum(step for step in steps if step < 0)
    high = start + sum(step for step in steps if step > 0) + itemsize
    return View(name, low, high, start, itemsize, shape, strides, low - origin, constant)


def dtype_name(array: Any) -> str:
    """``float32`` and the like, for NumPy and torch."""
    return str(array.dtype).removeprefix("torch.")


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "data_ptr") and hasattr(value, "element_size") and hasattr(value, "stride")


def _pointer(parameter: Parameter, value: Any) -> View | bytes:
    if value is None:
        return bytes(8)
    if isinstance(value, np.uint64 | np.uintp | ctypes.c_void_p):  # an address as it is: checked when it is used
        return int(getattr(value, "value", value) or 0).to_bytes(8, "little")
    if not isinstance(value, np.ndarray) and not _is_tensor(value):
        raise TypeError(f"parameter {parameter} takes a tensor, got {type(value).__name__}")
    if parameter.type is not None and dtype_name(value) != parameter.type:
        raise TypeError(f"parameter {parameter} takes {parameter.type} elements, got {dtype_name(value)}")
    return view_of(value, parameter.name, parameter.constant)


def _value(parameter: Parameter, value: Any) -> bytes:
    if isinstance(value, bytes | ctypes.Structure | np.void):
        data = bytes(value) if not isinstance(value, np.void) else value.tobytes()
        if parameter.kind != "s" or len(data) != parameter.size:
            raise TypeError(f"parameter {parameter} has {parameter.size} bytes, got a struct of {len(data)}")
        return data
    if isinstance(value, ctypes._SimpleCData):
        value = np.ctypeslib.as_array(value)[()] if not isinstance(value, ctypes.c_bool) else np.bool_(value.value)
    if not isinstance(value, np.generic):
        raise TypeError(f"parameter {parameter} takes {_one(parameter.type)}, got {_told(value, parameter.type)}")
    if dtype_name(value) != parameter.type:
        raise TypeError(f"parameter {parameter} takes {_one(parameter.type)}, got {_one(dtype_name(value))}")
    return value.tobytes()


def _one(type_name: str | None) -> str:
    """``an int64``, ``a float32``."""
    name = type_name or "struct"
    return f"{'an' if name.startswith('int') else 'a'} {name}"


def _told(value: Any, wanted: str | None) -> str:
    """The type of an argument that is no scalar; of Python's numbers also what to pass instead."""
    name = type(value).__name__
    if not isinstance(value, int | float):
        return name
    instead = "np.bool_" if wanted == "bool" else f"np.{wanted}" if hasattr(np, wanted or "struct") else None
    return f"Python's {name}" + (f"; pass {instead}(...)" if instead else "")
