"""Per element of memory: who stored, loaded and updated it, and whether that is ordered before the next access."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_roofline.counting.triton_cpu.findings import (
    DuplicateStoreError,
    KernelFault,
    MissingBarrierError,
    RaceError,
)
from pytest_roofline.counting.triton_cpu.ordering import EMPTY, Clock, Histories


@dataclass(frozen=True)
class Conflict:
    """What is wrong with an access, and the granule where it shows."""

    kind: type[KernelFault]
    message: str
    granule: int


class Shadow:
    """Numbers of access sets per granule. Pages that no access touches stay unmapped, so large tensors cost nothing."""

    def __init__(self, granules: int) -> None:
        self.stores, self.loads, self.atomics, self.published, self.lanes = (
            np.zeros(granules, np.int32) for _ in range(5)
        )

    def refine(self, factor: int) -> None:
        """Granules become ``factor`` times smaller."""
        for name, values in vars(self).items():
            setattr(self, name, np.repeat(values, factor))


class Races:
    """The rules of one launch. ``at`` are granules of active lanes, ``lanes`` their positions in the block, rising."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._histories = Histories()

    def load(self, shadow: Shadow, at: Any, lanes: Any) -> Conflict | None:
        """A plain load: stores and atomic updates of other programs must be ordered before it."""
        stored = shadow.stores[at]
        conflict = (
            self._unordered("loads", stored, "stored", at)
            or self._unordered("loads", shadow.atomics[at], "updated atomically", at)
            or self._passed_between_lanes(shadow, stored, at, lanes)
        )
        if conflict is None:
            shadow.loads[at] = self._with_this(shadow.loads[at])
        return conflict

    def store(self, shadow: Shadow, at: Any, lanes: Any) -> Conflict | None:
        """A plain store: everything that others did to the elements must be ordered before it."""
        conflict = (
            self._same_element_twice(shadow, at, lanes)
            or self._unordered("stores", shadow.stores[at], "stored", at)
            or self._unordered("stores", shadow.loads[at], "loaded", at)
            or self._unordered("stores", shadow.atomics[at], "updated atomically", at)
        )
        if conflict is None:
            epoch = self.clock.epoch(others_store=bool(lanes[-1] > 0))
            shadow.stores[at] = self._histories.single(self.clock.program, epoch)
            shadow.loads[at] = shadow.atomics[at] = shadow.published[at] = EMPTY
        return conflict

    def update(self, shadow: Shadow, at: Any, *, device_wide: bool) -> Conflict | None:
        """An atomic: plain accesses of others must be ordered before it, and atomics unless all are device-wide."""
        conflict = self._unordered("updates atomically", shadow.stores[at], "stored", at) or self._unordered(
            "updates atomically", shadow.loads[at], "loaded", at
        )
        if conflict is None and not device_wide:
            conflict = self._unordered('updates with scope="cta"', shadow.atomics[at], "updated atomically", at)
        if conflict is None:
            shadow.atomics[at] = self._with_this(shadow.atomics[at])
        return conflict

    def synchronise(self, shadow: Shadow, at: Any, lanes: Any, *, acquires: bool, releases: bool) -> None:
        """The ordering effect of an atomic that has been admitted by :meth:`update`."""
        if acquires:
            self.clock.acquire(shadow.published[at])
        if releases:
            shadow.published[at] = self.clock.release(shadow.published[at], by_all=bool(lanes[-1] > 0))
        if acquires or releases:
            self.clock.end_phase()

    def _with_this(self, sets: Any) -> Any:
        return self._histories.extended(sets, self.clock.program, self.clock.epoch())

    def _unordered(self, does: str, sets: Any, did: str, at: Any) -> Conflict | None:
        """The first of the earlier accesses that the running program may not rely on."""
        for number in self._distinct(sets):
            for program, epoch in self._histories.accesses(number):
                if self.clock.knows(program, epoch):
                    continue
                where = int(at[np.flatnonzero(sets == number)[0]])
                if self.clock.knows(program, epoch - epoch % 2):
                    return Conflict(MissingBarrierError, _UNPUBLISHED.format(does, program), where)
                return Conflict(RaceError, f"{does} what program number {program} {did}; nothing orders them", where)
        return None

    @staticmethod
    def _distinct(sets: Any) -> list[int]:
        first = int(sets[0])
        numbers = [first] if bool((sets == first).all()) else np.unique(sets).tolist()
        return [n for n in numbers if n != EMPTY]

    def _passed_between_lanes(self, shadow: Shadow, stored: Any, at: Any, lanes: Any) -> Conflict | None:
        """Elements that another lane of this program stored in this phase."""
        phase = self.clock.epoch()
        for number in self._distinct(stored):
            program, epoch = next(self._histories.accesses(number))
            if program != self.clock.program or epoch < phase:
                continue
            foreign = np.flatnonzero((stored == number) & (shadow.lanes[at] != lanes))
            if foreign.size:
                return Conflict(MissingBarrierError, _BETWEEN_LANES, int(at[foreign[0]]))
        return None

    @staticmethod
    def _same_element_twice(shadow: Shadow, at: Any, lanes: Any) -> Conflict | None:
        shadow.lanes[at] = lanes
        lost = np.flatnonzero(shadow.lanes[at] != lanes)
        if not lost.size:
            return None
        return Conflict(DuplicateStoreError, "lanes of one store write the same element", int(at[lost[0]]))


_UNPUBLISHED = (
    "{} what several lanes of program number {} stored just before a release by one lane, which waits for none of the "
    "others: call tl.debug_barrier() between the store and the atomic"
)
_BETWEEN_LANES = (
    "loads an element that another lane of the program stored: call tl.debug_barrier() between the store and the load"
)
