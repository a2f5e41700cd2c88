"""Repairs of Triton's interpreter. Each is made only where a probe shows the defect, so newer versions stay untouched.

Known defects: a runtime loop bound is no index under numpy >= 2.4 (Triton <= 3.6); bfloat16 values are bit patterns on
which arithmetic is done as on integers; float32 is truncated to bfloat16 instead of rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as interpreter

_Builder = interpreter.InterpreterBuilder
_Handle = interpreter.TensorHandle

_ELEMENTWISE = ("binary_op", "unary_op", "ternary_op", "create_fma", "create_clampf", "create_rsqrt")
_CASTS = (
    "create_si_to_fp",
    "create_ui_to_fp",
    "create_fp_to_si",
    "create_fp_to_ui",
    "create_fp_ext",
    "create_fp_trunc",
)


def install() -> None:
    """Probe for each defect and repair what is broken."""
    if not _indexes():
        _repair_index()
    if not _adds_bf16():
        _repair_bf16()


def widen(bits: Any) -> Any:
    """bfloat16 bit patterns (uint16) as float32, exactly."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def narrow(values: Any) -> Any:
    """float32 rounded to the nearest bfloat16, ties to even, as bit patterns (uint16); NaN stays NaN."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded).astype(np.uint16)


def _indexes() -> bool:
    """Whether a scalar of the interpreter (an array of one element) converts to an index."""
    try:
        int(np.zeros(1, np.int32))  # numpy >= 2.4 refuses
    except TypeError:
        return "squeeze" in _source_of(interpreter._patch_lang_tensor)
    return True


def _source_of(function: Any) -> str:
    import inspect

    return inspect.getsource(function)


def _adds_bf16() -> bool:
    one = _Handle(np.array([0x3F80], np.uint16), tl.bfloat16)
    total = interpreter.interpreter_builder.create_fadd(one, one)
    return bool(total.data[0] == 0x4000)


def _repair_index() -> None:
    original = interpreter._patch_lang_tensor

    def patched(tensor: Any, *scope: Any) -> None:
        original(tensor, *scope)

        def index(self: Any) -> int:
            return int(self.handle.data.squeeze())

        if scope:
            scope[0].set_attr(tensor, "__index__", index)
        else:
            tensor.__index__ = index

    interpreter._patch_lang_tensor = patched


def _is_bf16(value: Any) -> bool:
    return isinstance(value, _Handle) and value.dtype.scalar == tl.bfloat16


def _up(value: Any) -> Any:
    return _Handle(widen(value.data), tl.float32) if _is_bf16(value) else value


def _down(handle: Any) -> Any:
    """A float32 result as bfloat16; comparisons stay boolean."""
    return handle if handle.data.dtype == np.bool_ else _Handle(narrow(handle.data), tl.bfloat16)


def _repair_bf16() -> None:
    for name in _ELEMENTWISE:
        if hasattr(_Builder, name):
            setattr(_Builder, name, _through_f32(getattr(_Builder, name)))
    dot = _Builder.create_dot
    _Builder.create_dot = lambda self, a, b, d, *rest: dot(self, _up(a), _up(b), d, *rest)
    _Builder.cast_impl = _rounding_cast(_Builder.cast_impl)
    for name in _CASTS:
        setattr(_Builder, name, lambda self, source, target: self.cast_impl(source, target))
    _Builder.create_fp_to_fp = _rounding_conversion(_Builder.create_fp_to_fp)
    interpreter.ReduceOps.sum = _f32_sum(interpreter.ReduceOps.sum)


def _through_f32(original: Any) -> Any:
    def operation(self: Any, *arguments: Any) -> Any:
        if not any(map(_is_bf16, arguments)):
            return original(self, *arguments)
        return _down(original(self, *map(_up, arguments)))

    return operation


def _rounding_cast(original: Any) -> Any:
    def cast(self: Any, source: Any, target: Any) -> Any:
        before, after = source.dtype.scalar, target.scalar
        if before == after or tl.bfloat16 not in (before, after):
            return original(self, source, target)
        if after == tl.bfloat16:
            return _Handle(narrow(source.data.astype(np.float32)), tl.bfloat16)
        wide = _up(source)
        return wide if after == tl.float32 else original(self, wide, target)

    return cast


def _rounding_conversion(original: Any) -> Any:
    def convert(self: Any, source: Any, target: Any, *mode: Any) -> Any:
        wide = {tl.bfloat16, tl.float16, tl.float32, tl.float64}
        if tl.bfloat16 in (source.dtype.scalar, target.scalar) and {source.dtype.scalar, target.scalar} <= wide:
            return self.cast_impl(source, target)
        return original(self, source, target, *mode)

    return convert


def _f32_sum(original: Any) -> Any:
    """The compiler sums bfloat16 in float32 and rounds once."""

    def total(self: Any, tensor: Any) -> Any:
        if tensor.dtype.scalar != tl.bfloat16:
            return original(self, tensor)
        wide = np.sum(widen(tensor.handle.data), axis=self.axis, keepdims=self.keep_dims, dtype=np.float32)
        data = np.asarray(wide)
        kind = tl.block_type(tl.bfloat16, list(data.shape)) if data.shape else tl.bfloat16
        return tl.core.tensor(_Handle(narrow(data if data.shape else data.reshape(1)), tl.bfloat16), kind)

    return total
