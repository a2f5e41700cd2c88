"""Memory traffic of a launch, counted from its loads, stores and atomics.

The counts are layout-free: the interpreter does not know which thread holds which lane, so a request is one load,
store or atomic of one program with all its active lanes, and its sectors are those that any layout must move at least
once for it. They are exact and repeatable, and never above what a GPU measures for the same requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SECTOR = 32  # bytes; the unit of traffic between L1, L2 and memory (CUDA C++ Best Practices Guide, coalesced access)


@dataclass(frozen=True)
class Traffic:
    """``requests`` with at least one active lane, their active ``lanes``, ``bytes``, ``sectors``, ``unique_bytes``.

    ``sectors`` sums the distinct 32-byte sectors of each request; ``unique_bytes`` counts each byte touched by the
    launch once, which is the least that must move.
    """

    requests: int
    lanes: int
    bytes: int
    sectors: int
    unique_bytes: int

    @property
    def sectors_per_request(self) -> float:
        """Mean number of sectors of a request; 0 without requests."""
        return self.sectors / self.requests if self.requests else 0.0


@dataclass(frozen=True)
class LineTraffic:
    """The requests of one action (``load``, ``store``, ``atomic``) at one source line, ``size`` bytes per lane.

    ``ideal_sectors`` is what the same lanes would need, packed and aligned.
    """

    action: str
    file: str
    line: int
    size: int
    requests: int
    lanes: int
    sectors: int
    ideal_sectors: int


@dataclass(frozen=True)
class LaunchRecord:
    """One launch. The counts are None unless they were asked for."""

    kernel: str
    grid: tuple[int, ...]
    loads: Traffic | None = None
    stores: Traffic | None = None
    atomics: Traffic | None = None
    lines: tuple[LineTraffic, ...] = ()


class Counter:
    """Adds up the requests of one kind."""

    def __init__(self) -> None:
        self._requests = self._lanes = self._bytes = self._sectors = 0
        self._lines: dict[tuple[str, int, int], list[int]] = {}
        self._touched: dict[int, Any] = {}
        self._width: dict[int, int] = {}

    def request(self, addresses: Any, size: int, place: tuple[str, int]) -> None:
        """One request at a file and line: addresses of its active lanes (in bytes), ``size`` bytes each."""
        lanes, sectors = int(addresses.size), _distinct(addresses // SECTOR)
        self._requests += 1
        self._lanes += lanes
        self._bytes += lanes * size
        self._sectors += sectors
        line = self._lines.setdefault((*place, size), [0, 0, 0, 0])
        for index, number in enumerate((1, lanes, sectors, -(-lanes * size // SECTOR))):
            line[index] += number

    def touch(self, region: int, at: Any, granules: int, width: int) -> None:
        """Granules ``at`` (``width`` bytes each) of a region of that many granules."""
        touched = self._touched.get(region)
        if touched is None:
            touched = np.zeros(granules, bool)
        elif touched.size < granules:  # granules have become smaller meanwhile
            touched = np.repeat(touched, granules // touched.size)
        touched[at] = True
        self._touched[region], self._width[region] = touched, width

    def total(self) -> Traffic:
        """What was counted."""
        unique = sum(int(t.sum()) * self._width[r] for r, t in self._touched.items())
        return Traffic(self._requests, self._lanes, self._bytes, self._sectors, unique)

    def lines(self, action: str) -> list[LineTraffic]:
        """The same, line by line."""
        return [LineTraffic(action, *place, *numbers) for place, numbers in sorted(self._lines.items())]


def _distinct(values: Any) -> int:
    steps = np.diff(values)
    if bool((steps >= 0).all()):  # what most requests are, and much cheaper than sorting
        return 1 + int(np.count_nonzero(steps))
    return int(np.unique(values).size)
