"""bfloat16 for an interpreter that holds its values as bit patterns (uint16) and computes with them as integers.

Every operation widens to float32 (exact), computes, and rounds once to nearest even, as the compiled code does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as interpreter

Builder = interpreter.InterpreterBuilder
Handle = interpreter.TensorHandle

_ELEMENTWISE = ("binary_op", "unary_op", "ternary_op", "create_fma", "create_clampf", "create_rsqrt")
_CASTS = ("si_to_fp", "ui_to_fp", "fp_to_si", "fp_to_ui", "fp_ext", "fp_trunc")


def widen(bits: Any) -> Any:
    """bfloat16 bit patterns (uint16) as float32, exactly."""
    return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def narrow(values: Any) -> Any:
    """float32 rounded to the nearest bfloat16, ties to even, as bit patterns (uint16). A NaN keeps sign and payload."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) >> 16
    quiet = (bits >> 16) | np.uint32(0x40)
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)


def is_bf16(value: Any) -> bool:
    """Whether a handle of the interpreter holds bfloat16."""
    return isinstance(value, Handle) and bool(value.dtype.scalar == tl.bfloat16)


def as_floats(value: Any) -> Any:
    """The data of a handle; bfloat16 as float32, anything else as it is."""
    return widen(value.data) if is_bf16(value) else value.data


def handle(bits: Any) -> Any:
    """A handle of bfloat16 bit patterns."""
    return Handle(np.asarray(bits, np.uint16), tl.bfloat16)


def repair_arithmetic() -> None:
    """Elementwise operations and comparisons."""
    for name in _ELEMENTWISE:
        if hasattr(Builder, name):
            setattr(Builder, name, _through_f32(getattr(Builder, name)))


def repair_dot() -> None:
    """``tl.dot`` of bfloat16 operands: exact products, added in the accumulator's type."""
    dot = Builder.create_dot
    Builder.create_dot = lambda self, a, b, d, *rest: dot(self, _up(a), _up(b), d, *rest)


def repair_casts() -> None:
    """Conversions from and to every other type."""
    Builder.cast_impl = _rounding_cast(Builder.cast_impl)
    for name in _CASTS:
        setattr(Builder, f"create_{name}", lambda self, source, target: self.cast_impl(source, target))
    Builder.create_fp_to_fp = _rounding_conversion(Builder.create_fp_to_fp)


def repair_sum() -> None:
    """``tl.sum``: the compiled code adds in bfloat16, so every partial sum is rounded (its order is not defined)."""
    interpreter.ReduceOps.sum = _rounding_sum(interpreter.ReduceOps.sum)


def repair_constants() -> None:
    """``tl.full`` and literals."""
    Builder.get_bf16 = lambda self, value: handle(narrow(np.array([value], np.float32)))


def repair_atomic_add() -> None:
    """``tl.atomic_add``: lanes that meet add one after the other."""
    Builder.create_atomic_rmw = _adding_atomic(Builder.create_atomic_rmw)


def _up(value: Any) -> Any:
    return Handle(widen(value.data), tl.float32) if is_bf16(value) else value


def _through_f32(original: Any) -> Any:
    def operation(self: Any, *arguments: Any) -> Any:
        if not any(map(is_bf16, arguments)):
            return original(self, *arguments)
        result = original(self, *map(_up, arguments))
        return result if result.data.dtype != np.float32 else handle(narrow(result.data))

    return operation


def _rounding_cast(original: Any) -> Any:
    def cast(self: Any, source: Any, target: Any) -> Any:
        before, after = source.dtype.scalar, target.scalar
        if before == after or tl.bfloat16 not in (before, after):
            return original(self, source, target)
        if after == tl.bfloat16:
            return handle(narrow(source.data.astype(np.float32)))
        wide = _up(source)
        return wide if after == tl.float32 else original(self, wide, target)

    return cast


def _rounding_conversion(original: Any) -> Any:
    wide = {tl.bfloat16, tl.float16, tl.float32, tl.float64}

    def convert(self: Any, source: Any, target: Any, *mode: Any) -> Any:
        kinds = {source.dtype.scalar, target.scalar}
        if tl.bfloat16 in kinds and kinds <= wide:
            return self.cast_impl(source, target)
        return original(self, source, target, *mode)

    return convert


def _rounding_sum(original: Any) -> Any:
    def total(self: Any, tensor: Any) -> Any:
        if tensor.dtype.scalar != tl.bfloat16:
            return original(self, tensor)
        data = widen(tensor.handle.data)
        dimensions = data.ndim
        axis = 0 if self.axis is None else self.axis
        data = data.reshape(-1) if self.axis is None else data
        while (extent := data.shape[axis]) > 1:  # blocks have powers of two, so halves fit
            low, high = np.split(data, [extent // 2], axis=axis)
            data = widen(narrow(low + high))
        if not self.keep_dims:
            data = data.squeeze(axis)
        elif self.axis is None:
            data = data.reshape((1,) * dimensions)
        kind = tl.block_type(tl.bfloat16, list(data.shape)) if data.shape else tl.bfloat16
        return tl.core.tensor(handle(narrow(data if data.shape else data.reshape(1))), kind)

    return total


def _adding_atomic(original: Any) -> Any:
    def atomic(self: Any, operation: Any, pointers: Any, value: Any, mask: Any, *order: Any) -> Any:
        if not is_bf16(value):
            return original(self, operation, pointers, value, mask, *order)
        where, what, active = (np.ravel(a) for a in np.broadcast_arrays(pointers.data, value.data, mask.data))
        memory, nothing = interpreter._interpreter, np.zeros(where.shape, np.uint16)
        old = np.array(memory.load(where, active, nothing, nothing.dtype), np.uint16)
        latest: dict[int, int] = {}
        for i in np.flatnonzero(active):
            address = int(where[i])
            old[i] = latest.get(address, old[i])
            latest[address] = int(narrow(widen(old[i]) + widen(what[i]))[0])
        if latest:
            addresses, values = np.array(list(latest), np.uint64), np.array(list(latest.values()), np.uint16)
            memory.store(addresses, values, np.ones(len(latest), bool))
        return handle(old.reshape(np.shape(pointers.data)))

    return atomic
