"""Looks at every load, store and atomic of an interpreted kernel before it happens.

Hooks sit on private names of Triton's interpreter that have not changed from 3.4 to 3.7; ``selftest`` sees at start
that they still bite. Outside :func:`checking` they only pass through.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import triton
import triton.language as tl
import triton.runtime.interpreter as interpreter
from triton.language.semantic import TritonSemantic

from pytest_roofline.counting.triton_cpu.findings import Finding, KernelFault
from pytest_roofline.counting.triton_cpu.hints import false_hint
from pytest_roofline.counting.triton_cpu.memory import NOBODY, SEVERAL, AddressMap, Allocation, tensors_in
from pytest_roofline.counting.triton_cpu.ordering import Clocks

GRID_LIMIT = (2**31 - 1, 65535, 65535)
_RELEASING = ("RELEASE", "ACQUIRE_RELEASE")
_ACQUIRING = ("ACQUIRE", "ACQUIRE_RELEASE")


class Launch:
    """One launch under watch."""

    def __init__(self, kernel: str, arguments: dict[str, Any], races: bool) -> None:
        self.kernel = kernel
        self.memory = AddressMap(pair for name, value in arguments.items() for pair in tensors_in(name, value))
        self.races = races
        self.program = (0, 0, 0)
        self.clocks = Clocks(1)
        self._number = -1

    def set_grid(self, grid: tuple[int, ...]) -> None:
        """The grid is known now. Raises a fault beyond CUDA's limits."""
        for axis, extent, limit in zip("xyz", grid, GRID_LIMIT, strict=False):
            if extent > limit:
                raise self.fault(Finding.GRID_LIMIT, f"{extent} programs along {axis}, a GPU takes at most {limit}")
        self.clocks = Clocks(max(1, math.prod(grid)))

    def start_program(self, program: tuple[int, int, int]) -> None:
        """The next program runs."""
        self._number += 1
        self.program = program
        self.clocks.start(self._number)

    def fault(self, kind: Finding, message: str) -> KernelFault:
        """A fault at the kernel statement that is being executed."""
        return KernelFault(kind, message, self.kernel, self.program)

    def access(self, kind: str, pointers: Any, mask: Any, size: int) -> None:
        """Check the active lanes of one access of ``size`` bytes per lane, and remember them."""
        shape = np.broadcast_shapes(np.shape(pointers), np.shape(mask))
        active = np.broadcast_to(pointers, shape)[np.broadcast_to(mask, shape)].astype(np.int64)
        pending = np.ones(active.size, bool)
        for allocation in self.memory.allocations:
            if not pending.any():
                return
            inside = pending & (active >= allocation.low) & (active + size <= allocation.high)
            if inside.any():
                self._inside(kind, allocation, active[inside], size)
                pending &= ~inside
        if pending.any():
            self._out_of_bounds(kind, active[pending])

    def _inside(self, kind: str, allocation: Allocation, addresses: Any, size: int) -> None:
        if (addresses % size).any():
            raise self.fault(
                Finding.MISALIGNED, f"{kind} of {allocation.name} at an address that is no multiple of {size}"
            )
        first = (addresses - allocation.low) // allocation.granule
        granules = (first[:, None] + np.arange(max(1, size // allocation.granule))).reshape(-1)
        illegal = int((~allocation.legal[granules]).sum())
        if illegal:
            where = int(granules[~allocation.legal[granules]][0])
            raise self.fault(
                Finding.VIEW_GAP,
                f"{kind} of {illegal} elements between those of {allocation.name}, the first {where} after its start",
            )
        if self.races:
            {"load": self._load, "store": self._store, "atomic": self._update}[kind](allocation, granules)

    def _load(self, a: Allocation, at: Any) -> None:
        self._demand("loads", a, at, a.writer, a.written_at, "stored")
        self._demand("loads", a, at, a.updater, a.updated_at, "updated atomically")
        self._remember(a.reader, a.read_at, at)

    def _store(self, a: Allocation, at: Any) -> None:
        if np.unique(at).size != at.size:
            raise self.fault(Finding.DUPLICATE_STORE, f"lanes of one store write the same element of {a.name}")
        self._demand("stores", a, at, a.writer, a.written_at, "stored")
        self._demand("stores", a, at, a.reader, a.read_at, "loaded")
        self._demand("stores", a, at, a.updater, a.updated_at, "updated atomically")
        a.writer[at], a.written_at[at] = self.clocks.current, self.clocks.epoch

    def _update(self, a: Allocation, at: Any) -> None:
        self._demand("updates", a, at, a.writer, a.written_at, "stored")
        self._demand("updates", a, at, a.reader, a.read_at, "loaded")
        self._remember(a.updater, a.updated_at, at)

    def _demand(self, doing: str, a: Allocation, at: Any, programs: Any, epochs: Any, done: str) -> None:
        """Every earlier access must be ordered before this one."""
        loose = ~self.clocks.ordered(programs[at], epochs[at])
        if loose.any():
            other = int(programs[at][loose][0])
            who = "several programs" if other == SEVERAL else f"program number {other}"
            raise self.fault(
                Finding.RACE, f"{doing} {int(loose.sum())} elements of {a.name} that {who} {done}, nothing orders them"
            )

    def _remember(self, programs: Any, epochs: Any, at: Any) -> None:
        """Note a read or update; where an unordered one came before, there are several now."""
        before = programs[at]
        alone = (before == NOBODY) | self.clocks.ordered(before, epochs[at])
        programs[at] = np.where(alone, self.clocks.current, SEVERAL)
        epochs[at] = self.clocks.epoch

    def _out_of_bounds(self, kind: str, addresses: Any) -> None:
        first = int(addresses[0])
        near = self.memory.nearest(first)
        where = "there is no buffer at all"
        if near is not None:
            before, after = near.low - first, first - near.high
            where = (
                f"the first {before} bytes before" if before > 0 else f"the first {max(after, 0)} bytes past the end of"
            )
            where += f" {near.name}"
        raise self.fault(Finding.OUT_OF_BOUNDS, f"{kind} of {addresses.size} elements outside every buffer, {where}")


class _Watch:
    launch: Launch | None = None
    races = True
    active = False
    other_given = False


@contextlib.contextmanager
def checking(*, races: bool) -> Iterator[None]:
    """Check launches inside the context."""
    before = _Watch.active, _Watch.races
    _Watch.active, _Watch.races = True, races
    try:
        with np.errstate(all="ignore"):  # a GPU does not warn of an overflow either
            yield
    finally:
        _Watch.active, _Watch.races = before


def install() -> None:
    """Put the hooks in."""
    interpreter._interpreter = _CheckedMemory(interpreter._interpreter)
    builder = interpreter.InterpreterBuilder
    builder.set_grid_dim = _before(builder.set_grid_dim, Launch.set_grid)
    builder.set_grid_idx = _before(builder.set_grid_idx, Launch.start_program)
    builder.create_masked_load = _poisoned(builder.create_masked_load)
    TritonSemantic.load = _noting_other(TritonSemantic.load)
    interpreter.GridExecutor.__call__ = _watched(interpreter.GridExecutor.__call__)
    interpreter._patch_lang_core = _with_hints(interpreter._patch_lang_core)


class _CheckedMemory:
    """Stands before the interpreter's memory functions."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def load(self, pointers: Any, mask: Any, other: Any, dtype: Any) -> Any:
        if _Watch.launch is not None:
            _Watch.launch.access("load", pointers, mask, dtype.itemsize)
        return self._real.load(pointers, mask, other, dtype)

    def store(self, pointers: Any, value: Any, mask: Any) -> Any:
        if _Watch.launch is not None:
            _Watch.launch.access("store", pointers, mask, value.dtype.itemsize)
        return self._real.store(pointers, value, mask)

    def atomic_rmw(self, operation: Any, pointers: Any, value: Any, mask: Any, order: Any) -> Any:
        self._atomic(pointers, mask, value.dtype.itemsize, order)
        return self._real.atomic_rmw(operation, pointers, value, mask, order)

    def atomic_cas(self, pointers: Any, expected: Any, value: Any, order: Any) -> Any:
        self._atomic(pointers, np.ones(np.shape(pointers), bool), value.dtype.itemsize, order)
        return self._real.atomic_cas(pointers, expected, value, order)

    @staticmethod
    def _atomic(pointers: Any, mask: Any, size: int, order: Any) -> None:
        launch = _Watch.launch
        if launch is None:
            return
        shape = np.broadcast_shapes(np.shape(pointers), np.shape(mask))
        touched = {int(p) for p in np.broadcast_to(pointers, shape)[np.broadcast_to(mask, shape)].reshape(-1)}
        # Looked at before it acquires: an atomic cannot be what orders it after a plain store to the same element.
        launch.access("atomic", pointers, mask, size)
        for address in touched if order.name in _ACQUIRING else ():
            launch.clocks.acquire(address)
        for address in touched if order.name in _RELEASING else ():
            launch.clocks.release(address)


def _before(original: Any, tell: Any) -> Any:
    """Tell the launch under watch, if there is one, before the interpreter goes on."""

    def method(self: Any, x: int, y: int, z: int) -> Any:
        if _Watch.launch is not None:
            tell(_Watch.launch, (x, y, z))
        return original(self, x, y, z)

    return method


def _watched(original: Any) -> Any:
    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if not _Watch.active:
            return original(self, *arguments, **keywords)
        named = {**dict(zip(self.arg_names, arguments, strict=False)), **keywords}
        before, _Watch.launch = _Watch.launch, Launch(self.fn.__name__, named, _Watch.races)
        try:
            return original(self, *arguments, **keywords)
        except Exception as error:
            fault = _fault_behind(error)
            if fault is None:
                raise
            raise fault from None
        finally:
            _Watch.launch = before

    return call


def _fault_behind(error: BaseException | None) -> KernelFault | None:
    """The interpreter wraps what a kernel raises, once per call of a device function."""
    while error is not None and not isinstance(error, KernelFault):
        error = error.__cause__
    return error


def _noting_other(original: Any) -> Any:
    """The interpreter takes a one-lane ``other=0`` for none, so it is noted here whether there was one."""

    def load(self: Any, ptr: Any, mask: Any, other: Any, *rest: Any, **keywords: Any) -> Any:
        _Watch.other_given = other is not None
        return original(self, ptr, mask, other, *rest, **keywords)

    return load


def _poisoned(original: Any) -> Any:
    """Masked lanes without ``other`` are undefined on a GPU; zeros would hide that, NaN and all ones do not."""

    def masked_load(self: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **keywords: Any) -> Any:
        if other is None and _Watch.launch is not None and not _Watch.other_given:
            kind = pointers.get_element_ty()
            data = np.full(np.shape(pointers.data), 0, interpreter._get_np_dtype(kind))
            if kind in (tl.float16, tl.float32, tl.float64):
                data.fill(np.nan)
            else:
                data.view(np.uint8).fill(0xFF if data.dtype != np.bool_ else 1)
            other = interpreter.TensorHandle(data, kind)
        return original(self, pointers, mask, other, *rest, **keywords)

    return masked_load


def _with_hints(original: Any) -> Any:
    def patched(lang: Any, *scope: Any) -> None:
        original(lang, *scope)
        for name in ("multiple_of", "max_contiguous", "max_constancy"):
            hint = _checked_hint(name, getattr(lang, name))
            if scope:
                scope[0].set_attr(lang, name, hint)
            else:
                setattr(lang, name, hint)

    return patched


def _checked_hint(name: str, original: Any) -> Any:
    def hint(value: Any, values: Any, **keywords: Any) -> Any:
        if _Watch.launch is not None and isinstance(value, triton.language.tensor):
            listed = values if isinstance(values, list | tuple) else [values]
            plain: list[Any] = [getattr(v, "value", v) for v in listed]
            problem = false_hint(name, value.handle.data, plain)
            if problem is not None:
                raise _Watch.launch.fault(Finding.FALSE_HINT, problem)
        return original(value, values, **keywords)

    return hint
