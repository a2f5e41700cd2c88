"""Which accesses of other programs a program may rely on: vector clocks over release and acquire atomics.

The interpreter runs programs one after the other, a GPU does not. A program's accesses are visible to another one only
if it released them through an atomic whose address the other acquired later (PTX memory model; Triton's atomics are
acquire-release unless told otherwise).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_roofline.counting.triton_cpu.memory import NOBODY, SEVERAL


class Clocks:
    """The clocks of all programs of one launch. Programs are numbered in the order in which they run."""

    def __init__(self, programs: int) -> None:
        self._programs = programs
        self.current = 0
        self.epoch = 0
        self._view: Any = None  # latest released epoch of each program that the current one has acquired
        self._released: dict[int, Any] = {}
        self._acquired_all = False

    def start(self, program: int) -> None:
        """The next program begins; it knows nothing of the others."""
        self.current, self.epoch, self._view = program, 0, None

    def release(self, address: int) -> None:
        """Publish what the current program did and knows."""
        clock = self._known().copy()
        clock[self.current] = self.epoch
        before = self._released.get(address)
        self._released[address] = clock if before is None else np.maximum(before, clock)
        self.epoch += 1

    def acquire(self, address: int) -> None:
        """Learn what was published under an address."""
        published = self._released.get(address)
        if published is not None:
            self._view = np.maximum(self._known(), published)

    def ordered(self, programs: Any, epochs: Any) -> Any:
        """For each earlier access (program, epoch): whether the current program may rely on it."""
        mine = (programs == NOBODY) | (programs == self.current)
        if self._view is None or bool(mine.all()):
            return mine
        one = programs >= 0
        known = np.where(one, self._view[np.where(one, programs, 0)] >= epochs, False)
        # Of several unordered accesses only their owners' last release tells: all that ran must have been acquired.
        several = programs == SEVERAL
        return mine | known | (several & bool((self._view[: self.current] >= 0).all()))

    def _known(self) -> Any:
        return np.full(self._programs, -1, np.int32) if self._view is None else self._view
