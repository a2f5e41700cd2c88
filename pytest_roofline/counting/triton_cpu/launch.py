"""One launch under watch: its memory, its clock, its counts, and the place where it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pytest_roofline.counting.triton_cpu.counts import Counter, LaunchRecord
from pytest_roofline.counting.triton_cpu.findings import (
    EndlessWaitError,
    GridLimitError,
    KernelFault,
    MisalignedError,
    OutOfBoundsError,
    Place,
    ViewGapError,
)
from pytest_roofline.counting.triton_cpu.frames import current_statement
from pytest_roofline.counting.triton_cpu.ordering import Clock
from pytest_roofline.counting.triton_cpu.races import Conflict, Races, Shadow
from pytest_roofline.counting.triton_cpu.regions import AddressSpace, Region, tensors_in

# CUDA C++ Programming Guide, technical specifications per compute capability: maximum x, y and z dimension of a grid.
GRID_LIMITS = (2**31 - 1, 65535, 65535)
_PATIENCE = 10_000  # equal atomics in a row before a program counts as stuck: programs before it can do nothing more

Action = Literal["load", "store", "atomic"]


@dataclass(frozen=True)
class Atomicity:
    """Memory semantics of the atomic that is being executed."""

    acquires: bool
    releases: bool
    device_wide: bool


class Launch:
    """Checks every access of one launch. Addresses are the made-up ones of :mod:`regions`."""

    def __init__(self, kernel: str, *, races: bool, counts: bool) -> None:
        self.kernel = kernel
        self.space = AddressSpace(())
        self._atomicity: Atomicity | None = None
        self._counted = False
        self._clock = Clock(release_has_barrier=_release_has_barrier())
        self._races = Races(self._clock) if races else None
        self._shadows: dict[int, Shadow] = {}
        self._counters: dict[Action, Counter] = {a: Counter() for a in _ACTIONS} if counts else {}
        self._grid: tuple[int, ...] = ()
        self._program = (0, 0, 0)
        self._last_atomic: tuple[bytes, bytes] | None = None
        self._repeats = 0

    def map_arguments(self, arguments: dict[str, Any]) -> None:
        """The tensors that the kernel may touch: those on the host that the interpreter works on."""
        self.space = AddressSpace(pair for name, value in arguments.items() for pair in tensors_in(name, value))

    def set_grid(self, grid: tuple[int, int, int]) -> None:
        """The grid is known now. Raises a fault beyond CUDA's limits."""
        self._grid = grid
        for axis, extent, limit in zip("xyz", grid, GRID_LIMITS, strict=True):
            if extent > limit:
                raise self.fault(GridLimitError, f"{extent} programs along {axis}, a GPU takes at most {limit}")

    def start_program(self, program: tuple[int, int, int]) -> None:
        """The next program runs."""
        self._program, self._last_atomic = program, None
        self._clock.start_program()

    def barrier(self) -> None:
        """``tl.debug_barrier``."""
        self._clock.end_phase()

    @property
    def atomicity(self) -> Atomicity | None:
        """Set while the interpreter executes an atomic, however many accesses it makes of it."""
        return self._atomicity

    @atomicity.setter
    def atomicity(self, value: Atomicity | None) -> None:
        self._atomicity, self._counted = value, False

    def access(self, action: Action, pointers: Any, mask: Any, size: int) -> Any:
        """Check the active lanes of an access of ``size`` bytes per lane. Returns the real addresses of all lanes."""
        if self._atomicity is not None:
            action = "atomic"
        else:
            self._last_atomic = None
        if np.shape(pointers) != np.shape(mask):
            pointers, mask = np.broadcast_arrays(pointers, mask)
        lanes = np.flatnonzero(mask)
        if lanes.size:
            active = np.ravel(pointers)[lanes].view(np.int64)
            if action in self._counters and not self._counted:
                self._counters[action].request(active, size, current_statement())
                self._counted = self._atomicity is not None
            for region, part in self.space.split(active):
                self._access_region(action, region, active[part], lanes[part], size)
        return self.space.real(pointers)

    def note_atomic(self, addresses: Any, old: Any) -> None:
        """An atomic returned ``old``. Raises a fault if that has gone on for too long without a change."""
        this = np.asarray(addresses).tobytes(), np.asarray(old).tobytes()
        self._repeats = self._repeats + 1 if this == self._last_atomic else 0
        self._last_atomic = this
        if self._repeats >= _PATIENCE:
            raise self.fault(
                EndlessWaitError,
                f"{_PATIENCE} atomics in a row saw the same value: no program before this one wrote what it waits for",
            )

    def fault(self, kind: type[KernelFault], message: str, buffer: str | None = None, offset: int | None = None) -> Any:
        """A fault at the kernel statement that is being executed, to be raised."""
        file, line = current_statement()
        return kind(message, Place(self.kernel, self._program, file, line, buffer, offset))

    def record(self) -> LaunchRecord:
        """Plain data about the launch."""
        counted = {f"{action}s": counter.total() for action, counter in self._counters.items()}
        lines = tuple(line for action, counter in self._counters.items() for line in counter.lines(action))
        return LaunchRecord(self.kernel, tuple(int(extent) for extent in self._grid), lines=lines, **counted)

    def _access_region(self, action: Action, region: Region | None, addresses: Any, lanes: Any, size: int) -> None:
        if region is None:
            raise self.fault(OutOfBoundsError, f"{action} of {addresses.size} elements far from every tensor argument")
        offsets = addresses - region.base
        if bool((addresses & (size - 1)).any()):
            where = int(offsets[np.flatnonzero(addresses & (size - 1))[0]])
            message = f"{action} of {region.name} at byte {where}, at an address that is no multiple of {size}"
            raise self.fault(MisalignedError, message, region.name, where // size)
        outside = (offsets < 0) | (offsets > region.size - size)
        if bool(outside.any()):
            raise self._out_of_bounds(action, region, offsets[outside], size)
        at, lanes = self._granules(region, offsets, lanes, size)
        if region.legal is not None and not bool(region.legal[at].all()):
            gaps = at[~region.legal[at]]
            message = f"{action} between the elements of {region.name}, {gaps.size} lanes"
            raise self.fault(ViewGapError, message, region.name, (int(gaps[0]) << region.shift) // size)
        if action in self._counters:
            self._counters[action].touch(region.base, at, region.granules, 1 << region.shift)
        if self._races is not None:
            self._order(self._races, action, region, at, lanes, size)

    def _out_of_bounds(self, action: Action, region: Region, offsets: Any, size: int) -> KernelFault:
        first = int(offsets[0]) // size
        elements = region.size // size
        where = f"{-first} before its start" if first < 0 else f"{first - elements} past its end"
        message = f"{action} of {offsets.size} elements outside {region.name} ({elements} elements), the first {where}"
        fault: KernelFault = self.fault(OutOfBoundsError, message, region.name, first)
        return fault

    def _granules(self, region: Region, offsets: Any, lanes: Any, size: int) -> tuple[Any, Any]:
        """Granules of an access and the lane that touches each."""
        if size < 1 << region.shift:
            factor = region.refine(size)
            if region.base in self._shadows:
                self._shadows[region.base].refine(factor)
                self._clock.keep_all()
        at = offsets >> region.shift
        each = size >> region.shift
        if each == 1:
            return at, lanes
        return (at[:, None] + np.arange(each)).reshape(-1), np.repeat(lanes, each)

    def _order(self, races: Races, action: Action, region: Region, at: Any, lanes: Any, size: int) -> None:
        shadow = self._shadows.get(region.base)
        if shadow is None:
            shadow = self._shadows[region.base] = Shadow(region.granules)
        atomicity = self._atomicity
        conflict: Conflict | None
        if atomicity is not None:
            conflict = races.update(shadow, at, device_wide=atomicity.device_wide)
        else:
            conflict = (races.load if action == "load" else races.store)(shadow, at, lanes)
        if conflict is not None:
            offset = (conflict.granule << region.shift) // size
            raise self.fault(
                conflict.kind, f"element {offset} of {region.name}: {conflict.message}", region.name, offset
            )
        if atomicity is not None:
            # After the check: an atomic cannot be what orders itself after a plain store to the same element.
            wide = atomicity.device_wide
            races.synchronise(
                shadow, at, lanes, acquires=atomicity.acquires and wide, releases=atomicity.releases and wide
            )


_ACTIONS: tuple[Action, ...] = ("load", "store", "atomic")


def _release_has_barrier() -> bool:
    """Whether this Triton puts a barrier before a release (see :mod:`ordering`); in doubt not."""
    import triton

    found = re.match(r"(\d+)\.(\d+)", triton.__version__)
    return found is not None and (int(found[1]), int(found[2])) >= (3, 9)
