"""Repairs of Triton's interpreter. Each is made only where a probe shows the defect, so newer versions stay untouched.

Known defects: a runtime loop bound is no index under numpy >= 2.4 (Triton up to 3.6; its issue 9171), nearly
everything about bfloat16 (documented as unsupported in the interpreter), and a NaN of 8 bits becomes 480 in a dot.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as interpreter

from pytest_roofline.counting.triton_cpu import bfloat16

_ONE, _TWO, _SIX = 0x3F80, 0x4000, 0x40C0  # bfloat16 bit patterns


def install() -> list[str]:
    """Probe for each defect and repair what is broken. Returns the names of the repairs made.

    Raises ``RuntimeError`` if a defect is still there afterwards.
    """
    made = []
    for name, (works, repair) in _REPAIRS.items():
        if not _holds(works):
            repair()
            made.append(name)
            if not _holds(works):
                raise RuntimeError(f"the repair of {name} does not hold")
    return made


def _holds(probe: Callable[[], bool]) -> bool:
    """A probe that raises shows the defect as well as one that says no."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        try:
            return probe()
        except Exception:
            return False


def _indexes() -> bool:
    scalar = type("Scalar", (), {"handle": SimpleNamespace(data=np.array([3], np.int32))})
    _patch_tensor(interpreter._patch_lang_tensor, scalar)
    return operator.index(scalar()) == 3


def _patch_tensor(patch: Any, tensor: Any) -> None:
    """Later versions note in a scope what they patch."""
    scope = getattr(interpreter, "_LangPatchScope", None)
    patch(tensor, *([] if scope is None else [scope()]))


def _repair_index() -> None:
    original = interpreter._patch_lang_tensor

    def index(self: Any) -> int:
        return int(self.handle.data.item())

    def patched(tensor: Any, *scope: Any) -> None:
        original(tensor, *scope)
        if scope:
            scope[0].set_attr(tensor, "__index__", index)
        else:
            tensor.__index__ = index

    interpreter._patch_lang_tensor = patched


def _adds() -> bool:
    one = bfloat16.handle([_ONE])
    return int(interpreter.interpreter_builder.create_fadd(one, one).data[0]) == _TWO


def _multiplies_matrices() -> bool:
    two, three = bfloat16.handle([[_TWO]]), bfloat16.handle([[0x4040]])
    zero = interpreter.TensorHandle(np.zeros((1, 1), np.float32), tl.float32)
    return float(interpreter.interpreter_builder.create_dot(two, three, zero, None, 0).data[0, 0]) == 6.0


def _keeps_fp8_nan() -> bool:
    nan = np.array([0x7F, 0xFF], np.uint8)
    half = interpreter._convert_float(nan, tl.float8e4nv, tl.float16, None).view(np.float16)
    return bool(np.isnan(half).all())


def _repair_fp8_nan() -> None:
    original = interpreter._convert_float

    def converted(values: Any, old: Any, new: Any, rounding: Any) -> Any:
        found = original(values, old, new, rounding)
        if old == tl.float8e4nv:  # no infinities: all bits but the sign are NaN's
            nan = np.frombuffer(values.tobytes(), np.uint8).reshape(values.shape) & 0x7F == 0x7F
            exponent = (1 << new.primitive_bitwidth - 1) - (1 << new.fp_mantissa_width)
            found = np.where(nan, found.dtype.type(exponent | 1 << new.fp_mantissa_width - 1), found)
        return found

    interpreter._convert_float = converted


def _casts() -> bool:
    builder = interpreter.interpreter_builder
    up = interpreter.TensorHandle(np.array([0x3F80C000], np.uint32).view(np.float32), tl.float32)
    rounds = int(builder.cast_impl(up, tl.bfloat16).data[0]) == 0x3F81
    return rounds and int(builder.cast_impl(bfloat16.handle([_SIX]), tl.int32).data[0]) == 6


def _sums() -> bool:
    pair = tl.core.tensor(bfloat16.handle([_ONE, _ONE]), tl.block_type(tl.bfloat16, [2]))
    return int(interpreter.ReduceOps(0, tl.standard._sum_combine, False).sum(pair).handle.data[0]) == _TWO


def _makes_constants() -> bool:
    return int(interpreter.interpreter_builder.get_bf16(1.0).data[0]) == _ONE


def _adds_atomically() -> bool:
    memory = np.array([_ONE], np.uint16)
    pointer = interpreter.TensorHandle(np.array([memory.ctypes.data], np.uint64), tl.pointer_type(tl.bfloat16))
    mask = interpreter.TensorHandle(np.ones(1, bool), tl.int1)
    ir = interpreter._ir
    interpreter.interpreter_builder.create_atomic_rmw(
        ir.ATOMIC_OP.FADD, pointer, bfloat16.handle([_ONE]), mask, ir.MEM_SEMANTIC.RELAXED, ir.MEM_SYNC_SCOPE.GPU
    )
    return int(memory[0]) == _TWO


_REPAIRS: dict[str, tuple[Callable[[], bool], Callable[[], None]]] = {
    "runtime loop bounds": (_indexes, _repair_index),
    "bfloat16 arithmetic": (_adds, bfloat16.repair_arithmetic),
    "bfloat16 dot": (_multiplies_matrices, bfloat16.repair_dot),
    "fp8 NaN": (_keeps_fp8_nan, _repair_fp8_nan),
    "bfloat16 casts": (_casts, bfloat16.repair_casts),
    "bfloat16 sum": (_sums, bfloat16.repair_sum),
    "bfloat16 constants": (_makes_constants, bfloat16.repair_constants),
    "bfloat16 atomic add": (_adds_atomically, bfloat16.repair_atomic_add),
}
