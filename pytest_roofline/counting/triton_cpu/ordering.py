"""Which accesses of other programs a program may rely on: vector clocks over release and acquire atomics.

The interpreter runs programs one after the other, a GPU does not. What a program did is visible to another one only
if it released it through an atomic whose address the other one acquired later (PTX memory model; Triton's atomics are
acquire-release unless told otherwise).

A program's time is counted in phases, which barriers and ordering atomics end. An access has an epoch: 2 * phase, or
2 * phase + 1 for a store by other lanes than lane 0. A release by lane 0, as every scalar atomic is, publishes only the
former, since nothing makes that lane wait for the stores of the others, unless the compiler puts a barrier there:
Triton 3.9 does, 3.4 to 3.7 do not (seen in their PTX).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

EMPTY = 0


class Clock:
    """Time of the running program, and what it knows of those before it. Programs are numbered as they run."""

    def __init__(self, *, release_has_barrier: bool) -> None:
        self.program = -1
        self._phase = 0
        self._release_has_barrier = release_has_barrier
        self._known: Any = None  # latest epoch known of each earlier program, -1 for none
        self._snapshots: dict[int, Any] = {EMPTY: None}
        self._holders: dict[int, int] = {}  # granules per snapshot: a counter's old ones would fill the memory
        self._last_snapshot = EMPTY

    def start_program(self) -> None:
        """The next program begins; it knows nothing of the others."""
        self.program, self._phase, self._known = self.program + 1, 0, None

    def epoch(self, *, others_store: bool = False) -> int:
        """The time of an access; ``others_store`` for a store by other lanes than lane 0."""
        return 2 * self._phase + others_store

    def end_phase(self) -> None:
        """All lanes of the program have met, or an atomic has acquired or released."""
        self._phase += 1

    def acquire(self, published: Any) -> None:
        """Learn what was published under the snapshot numbers."""
        for number in np.unique(published[published != EMPTY]).tolist():
            self._known = _later(self._known, self._snapshots[number])

    def release(self, published: Any, *, by_all: bool) -> Any:
        """Publish what the program did and knows, together with what was published before; new snapshot numbers."""
        own = np.full(self.program + 1, -1, np.int32)
        own = own if self._known is None else _later(own, self._known)
        own[self.program] = self.epoch(others_store=by_all or self._release_has_barrier)
        numbers = np.empty_like(published)
        for before in np.unique(published).tolist():
            same = published == before
            self._last_snapshot += 1
            numbers[same] = self._last_snapshot
            self._snapshots[self._last_snapshot] = _later(own, self._snapshots[before])
            self._hold(before, self._last_snapshot, int(np.count_nonzero(same)))
        return numbers

    def keep_all(self) -> None:
        """Granules have become smaller: how many hold a snapshot is no longer known."""
        self._holders.clear()

    def knows(self, program: int, epoch: int) -> bool:
        """Whether the running program may rely on that access."""
        if program == self.program:
            return True
        known = self._known
        return known is not None and program < known.size and bool(known[program] >= epoch)

    def _hold(self, before: int, now: int, granules: int) -> None:
        self._holders[now] = granules
        if before in self._holders:
            self._holders[before] -= granules
            if self._holders[before] == 0:
                del self._holders[before], self._snapshots[before]


class Histories:
    """Sets of accesses, each a number: EMPTY, or an earlier set and one more access. Shadow memory holds numbers."""

    def __init__(self) -> None:
        self._rest, self._program, self._epoch = [EMPTY], [-1], [0]
        self._made: dict[tuple[int, int, int], int] = {}

    def single(self, program: int, epoch: int) -> int:
        """The set of one access."""
        return self._extend(EMPTY, program, epoch)

    def extended(self, sets: Any, program: int, epoch: int) -> Any:
        """Each set with one access more (array or number)."""
        first = int(sets[0])
        if bool((sets == first).all()):
            return self._extend(first, program, epoch)
        distinct, inverse = np.unique(sets, return_inverse=True)
        return np.array([self._extend(int(s), program, epoch) for s in distinct], np.int32)[inverse]

    def accesses(self, number: int) -> Iterator[tuple[int, int]]:
        """Program and epoch of each access of a set, the latest first."""
        while number != EMPTY:
            yield self._program[number], self._epoch[number]
            number = self._rest[number]

    def _extend(self, rest: int, program: int, epoch: int) -> int:
        if rest != EMPTY and self._program[rest] == program:
            if self._epoch[rest] >= epoch:
                return rest
            rest = self._rest[rest]  # a later access of the same program says more
        key = (rest, program, epoch)
        if key not in self._made:
            self._made[key] = len(self._rest)
            self._rest.append(rest)
            self._program.append(program)
            self._epoch.append(epoch)
        return self._made[key]


def _later(a: Any, b: Any) -> Any:
    """The later of two clocks, program by program; None is the clock that knows nothing."""
    if a is None or b is None:
        return (b if a is None else a).copy()
    longer, shorter = (a, b) if a.size >= b.size else (b, a)
    result = longer.copy()
    np.maximum(result[: shorter.size], shorter, out=result[: shorter.size])
    return result
