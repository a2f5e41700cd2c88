"""Puts the checks before every load, store and atomic of the interpreter.

The hooks sit on private names of Triton's interpreter that have kept their meaning from 3.4 to 3.9; ``selftest`` sees
at start that they still bite. Outside :func:`checking` they only pass through.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as interpreter
from triton.language.semantic import TritonSemantic

from pytest_roofline.counting.triton_cpu import hints
from pytest_roofline.counting.triton_cpu.bfloat16 import as_floats
from pytest_roofline.counting.triton_cpu.counts import LaunchRecord
from pytest_roofline.counting.triton_cpu.findings import FalseHintError, KernelFault, UndefinedValueError
from pytest_roofline.counting.triton_cpu.frames import only_user_frames
from pytest_roofline.counting.triton_cpu.launch import Atomicity, Launch
from pytest_roofline.counting.triton_cpu.poison import mixes_poison, poison

_ORDERINGS = (
    "create_atomic_rmw",
    "create_atomic_cas",
    "create_atomic_load",
    "create_atomic_store",
    "create_atomic_poll",
)


@dataclass
class Report:
    """What a :func:`checking` context has seen."""

    launches: list[LaunchRecord] = field(default_factory=list)


@dataclass(frozen=True)
class _Watch:
    races: bool
    counts: bool
    report: Report


_watch: ContextVar[_Watch | None] = ContextVar("watch", default=None)
_launch: ContextVar[Launch | None] = ContextVar("launch", default=None)
_other_missing: ContextVar[bool] = ContextVar("other_missing", default=False)


@contextlib.contextmanager
def checking(*, races: bool, counts: bool) -> Iterator[Report]:
    """Check launches inside the context; see the package."""
    report = Report()
    with _set(_watch, _Watch(races, counts, report)), np.errstate(all="ignore"):  # a GPU does not warn either
        yield report


def install() -> None:
    """Put the hooks in."""
    builder, executor = interpreter.InterpreterBuilder, interpreter.GridExecutor
    interpreter._interpreter = _CheckedMemory(interpreter._interpreter)
    interpreter._implicit_cvt = _with_made_up_addresses(interpreter._implicit_cvt)
    interpreter._patch_lang_core = _with_hints(interpreter._patch_lang_core)
    interpreter.ReduceOps.apply_impl = _defined_only(interpreter.ReduceOps.apply_impl)
    executor.__call__ = _watched(executor.__call__)
    executor._init_args_hst = _mapped(executor._init_args_hst)
    builder.set_grid_dim = _telling(builder.set_grid_dim, Launch.set_grid)
    builder.set_grid_idx = _telling(builder.set_grid_idx, Launch.start_program)
    builder.create_barrier = _ending_phase(builder.create_barrier)
    builder.create_masked_load = _poisoned(builder.create_masked_load)
    for name in _ORDERINGS:
        if hasattr(builder, name):
            setattr(builder, name, _ordering(getattr(builder, name)))
    TritonSemantic.load = _noting_other(TritonSemantic.load)


class _CheckedMemory:
    """Stands before the interpreter's memory functions, which take real addresses."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def load(self, pointers: Any, mask: Any, other: Any, dtype: Any) -> Any:
        launch = _launch.get()
        if launch is None:
            return self._real.load(pointers, mask, other, dtype)
        value = self._real.load(launch.access("load", pointers, mask, dtype.itemsize), mask, other, dtype)
        if launch.atomicity is not None:
            launch.note_atomic(pointers, value)
        return value

    def store(self, pointers: Any, value: Any, mask: Any) -> Any:
        launch = _launch.get()
        if launch is not None:
            pointers = launch.access("store", pointers, mask, value.dtype.itemsize)
        return self._real.store(pointers, value, mask)

    def atomic_rmw(self, operation: Any, pointers: Any, value: Any, mask: Any, order: Any) -> Any:
        launch = _launch.get()
        if launch is None:
            return self._real.atomic_rmw(operation, pointers, value, mask, order)
        real = launch.access("atomic", pointers, mask, value.dtype.itemsize)
        old = self._real.atomic_rmw(operation, real, value, mask, order)
        launch.note_atomic(pointers, old)
        return old

    def atomic_cas(self, pointers: Any, expected: Any, value: Any, order: Any) -> Any:
        launch = _launch.get()
        if launch is None:
            return self._real.atomic_cas(pointers, expected, value, order)
        real = launch.access("atomic", pointers, np.ones(np.shape(pointers), bool), value.dtype.itemsize)
        old = self._real.atomic_cas(real, expected, value, order)
        launch.note_atomic(pointers, old)
        return old


@contextlib.contextmanager
def _set(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def _watched(original: Any) -> Any:
    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        watch = _watch.get()
        if watch is None:
            return original(self, *arguments, **keywords)
        launch = Launch(self.fn.__name__, races=watch.races, counts=watch.counts)
        try:
            with _set(_launch, launch):
                return original(self, *arguments, **keywords)
        except Exception as error:
            fault = _fault_behind(error)
            if fault is None:
                raise
            raise fault.with_traceback(only_user_frames(fault.__traceback__)) from None
        finally:
            watch.report.launches.append(launch.record())

    return call


def _fault_behind(error: BaseException | None) -> KernelFault | None:
    """The interpreter wraps what a kernel raises, once per call of a device function."""
    while error is not None and not isinstance(error, KernelFault):
        error = error.__cause__
    return error


def _mapped(original: Any) -> Any:
    """Learn the tensors where the interpreter has them on the host."""

    def init_args(self: Any, *given: Any) -> Any:
        arguments, keywords = original(self, *given)
        launch = _launch.get()
        if launch is not None:
            launch.map_arguments({**dict(zip(self.arg_names, arguments, strict=False)), **keywords})
        return arguments, keywords

    return init_args


def _with_made_up_addresses(original: Any) -> Any:
    def convert(argument: Any) -> Any:
        converted = original(argument)
        launch = _launch.get()
        if launch is not None and hasattr(argument, "data_ptr"):
            tensor = argument.base if type(argument).__name__ == "TensorWrapper" else argument
            converted.handle.data = np.array([launch.space.made_up(tensor)], np.uint64)
        return converted

    return convert


def _telling(original: Any, tell: Any) -> Any:
    """Tell the launch under watch, if there is one, before the interpreter goes on."""

    def method(self: Any, x: int, y: int, z: int) -> Any:
        launch = _launch.get()
        if launch is not None:
            tell(launch, (x, y, z))
        return original(self, x, y, z)

    return method


def _ending_phase(original: Any) -> Any:
    def barrier(self: Any, *arguments: Any) -> Any:
        launch = _launch.get()
        if launch is not None:
            launch.barrier()
        return original(self, *arguments)

    return barrier


def _ordering(original: Any) -> Any:
    """Keep the memory semantics at hand while the interpreter executes an atomic; they are its last arguments."""

    def atomic(self: Any, *arguments: Any) -> Any:
        launch = _launch.get()
        if launch is None:
            return original(self, *arguments)
        order, scope = arguments[-2].name, arguments[-1].name
        launch.atomicity = Atomicity("ACQUIRE" in order, "RELEASE" in order, scope != "CTA")
        try:
            return original(self, *arguments)
        finally:
            launch.atomicity = None

    return atomic


def _noting_other(original: Any) -> Any:
    """The interpreter takes a one-lane ``other=0`` for none, so it is noted here whether there was one."""

    def load(self: Any, pointer: Any, mask: Any, other: Any, *rest: Any, **keywords: Any) -> Any:
        with _set(_other_missing, other is None):
            return original(self, pointer, mask, other, *rest, **keywords)

    return load


def _poisoned(original: Any) -> Any:
    def masked_load(self: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **keywords: Any) -> Any:
        if other is None and _launch.get() is not None and _other_missing.get():
            kind = pointers.get_element_ty()
            data = poison(np.shape(pointers.data), interpreter._get_np_dtype(kind))
            other = interpreter.TensorHandle(data, kind)
        return original(self, pointers, mask, other, *rest, **keywords)

    return masked_load


def _defined_only(original: Any) -> Any:
    """A maximum ignores NaN, so it would hide poison; a sum would show it, but not where it came from."""
    joining = [
        getattr(tl.standard, name)
        for name in (
            "_sum_combine",
            "_elementwise_max",
            "_elementwise_min",
            "_argmax_combine_tie_break_left",
            "_argmin_combine_tie_break_left",
        )
    ]

    def apply_impl(self: Any, given: Any) -> Any:
        launch = _launch.get()
        if launch is not None and self.combine_fn in joining and mixes_poison(as_floats(given[0].handle), self.axis):
            raise launch.fault(UndefinedValueError, "a reduction takes in masked lanes that were loaded without other=")
        return original(self, given)

    return apply_impl


def _with_hints(original: Any) -> Any:
    def patched(lang: Any, *scope: Any) -> None:
        original(lang, *scope)
        for name in hints.NAMES:
            hint = _checked_hint(name, getattr(lang, name))
            if scope:
                scope[0].set_attr(lang, name, hint)
            else:
                setattr(lang, name, hint)

    return patched


def _checked_hint(name: str, original: Any) -> Any:
    def hint(value: Any, values: Any, **keywords: Any) -> Any:
        launch = _launch.get()
        if launch is not None and isinstance(value, tl.tensor):
            listed: list[Any] = list(values) if isinstance(values, list | tuple) else [values]
            scalar = value.dtype.scalar
            step = max(1, scalar.element_ty.primitive_bitwidth // 8) if scalar.is_ptr() else 1
            wrong = hints.false_hint(name, value.handle.data, [int(getattr(v, "value", v)) for v in listed], step)
            if wrong is not None:
                raise launch.fault(FalseHintError, wrong)
        return original(value, values, **keywords)

    return hint
