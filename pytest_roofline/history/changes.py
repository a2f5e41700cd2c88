"""Where the level of a case changed over its runs.

Killick, Fearnhead and Eckley, "Optimal detection of changepoints with a linear computational cost", JASA 107, 2012:
PELT finds the segmentation that minimises squared deviations plus a penalty per change, here through ``ruptures`` on
the logarithm. The noise between runs is taken from neighbours, whose differences a change of level hardly touches.
Neighbours of one day share what another start of the machine changes, so a change of times must also exceed what
:mod:`pytest_roofline.statistics` states for that.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_roofline.history import HistoryError, require
from pytest_roofline.history.queries import Point
from pytest_roofline.reports.series import Series
from pytest_roofline.statistics import MINIMAL
from pytest_roofline.statistics.noise import between_runs

SHORTEST = 3
"""Runs that make a level: two odd ones in a row are none yet."""
ENOUGH = 2 * SHORTEST
"""Runs below which nothing is looked for."""
_PENALTY = 4.0  # times ln(runs) and the variance: twice the BIC's 2 ln n, as runs of one day are not independent
_ODD = 3.0  # standard deviations from which on a run is odd
_SMALLEST_NOISE = 1e-4  # of exact figures, which have none
_MAD = 1.4826  # of a normal distribution: standard deviation over median absolute deviation


@dataclass(frozen=True)
class ChangePoint:
    """A new level: ``at`` is the index of its first run, ``ratio`` new over old level (the medians of both).

    ``before`` and ``after`` are the last run of the old and the first of the new level; ``also`` says what else than
    the kernels changed between the two.
    """

    at: int
    ratio: float
    before: Point
    after: Point
    also: tuple[str, ...] = ()


def change_points(points: Sequence[Point], *, times: bool = True) -> list[ChangePoint]:
    """The changes of level, the oldest first; none in fewer than :data:`ENOUGH` runs.

    ``times`` says that the values are seconds, and not counted figures, which have no noise. Raises
    :class:`pytest_roofline.history.HistoryError` where ``ruptures`` is needed and not installed.
    """
    values = [point.value for point in points]
    return [
        ChangePoint(at, ratio, points[at - 1], points[at], _also(points[at - 1], points[at]))
        for at, ratio in (levels_of_times(values) if times else levels(values))
    ]


def with_changes_or_why(series: Series) -> tuple[Series, str]:
    """The same as :func:`with_changes`; without ``ruptures`` no change is marked, and the text says why."""
    try:
        return with_changes(series), ""
    except HistoryError as error:
        return series, f"changes of level are not marked: {error}"


def levels_of_times(seconds: Sequence[float]) -> list[tuple[int, float]]:
    """:func:`levels` that differ by more than the stated noise between runs on two starts of a machine."""
    return levels(seconds, between_runs(statistics.median(seconds))) if seconds else []


def levels(values: Sequence[float], least: float = MINIMAL) -> list[tuple[int, float]]:
    """Where values in their order change their level: the index of its first value, and new over old level.

    Changes smaller than ``least``, a fraction, are none.
    """
    if len(values) < ENOUGH:
        return []
    # Counted figures may be zero: no conflicts, no spills.
    smallest = min((value for value in values if value > 0), default=1.0)
    logs = [math.log(value) if value > 0 else math.log(smallest) - 1 for value in values]
    far = math.log1p(least)
    # No median of three or more runs lies beyond the second smallest or largest of all: then no search is needed, and
    # ruptures, which takes a second to import, is not.
    ordered = sorted(logs)
    if ordered[-2] - ordered[1] < far:
        return []
    edges = _told(logs, _settled(logs, _segments(logs)), far)
    middles = _middles(logs, edges)
    steps = zip(edges, itertools.pairwise(middles), strict=True)
    return [(at, math.exp(new - old)) for at, (old, new) in steps]


def with_changes(series: Series) -> Series:
    """The same with the change points of every case."""
    found = {}
    for case, values in series.seconds.items():
        there = [place for place, value in enumerate(values) if value is not None]
        steps = levels_of_times([value for value in values if value is not None])
        if steps:
            found[case] = tuple(there[at] for at, _ in steps)
    return replace(series, changes=found)


def noise(logs: Sequence[float]) -> float:
    """Standard deviation between neighbouring runs on the logarithm, from the median of their differences."""
    steps = [abs(b - a) for a, b in itertools.pairwise(logs)]
    return max(_MAD * statistics.median(steps) / math.sqrt(2), _SMALLEST_NOISE)


def _segments(logs: Sequence[float]) -> list[int]:
    """The first index of every level but the first."""
    numpy, ruptures = require("numpy"), require("ruptures")
    scale = noise(logs)
    scaled = numpy.asarray(_without_odd_runs(logs, _ODD * scale), dtype=float) / scale
    detector = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST).fit(scaled.reshape(-1, 1))
    return [int(place) for place in detector.predict(pen=_PENALTY * math.log(len(logs)))[:-1]]


def _settled(logs: Sequence[float], edges: Sequence[int]) -> list[int]:
    """The edges, each moved to where the runs beside it are nearer to the level that they are counted to.

    A level that is too short for the search borrows runs of the one before. Without them fewer than :data:`SHORTEST`
    are left, and it is none yet.
    """
    found = list(edges)
    for place, edge in enumerate(edges):
        before, after = [0, *found][place], [*edges, len(logs)][place + 1]
        old, new = statistics.median(logs[before:edge]), statistics.median(logs[edge:after])
        middle, up = (old + new) / 2, new > old
        while edge < after and (logs[edge] > middle) != up:
            edge += 1
        while edge > before and (logs[edge - 1] > middle) == up:
            edge -= 1
        found[place] = edge
    ends = [0]
    for edge in found:
        if edge - ends[-1] >= SHORTEST and len(logs) - edge >= SHORTEST:
            ends.append(edge)
    return ends[1:]


def _told(logs: Sequence[float], edges: Sequence[int], far: float) -> list[int]:
    """The edges whose levels differ by ``far``: the smallest step goes first, and its levels become one."""
    left = list(edges)
    while left:
        sizes = [abs(new - old) for old, new in itertools.pairwise(_middles(logs, left))]
        if min(sizes) >= far:
            break
        del left[sizes.index(min(sizes))]
    return left


def _middles(logs: Sequence[float], edges: Sequence[int]) -> list[float]:
    """The median of every level."""
    return [statistics.median(logs[a:b]) for a, b in itertools.pairwise([0, *edges, len(logs)])]


def _without_odd_runs(logs: Sequence[float], far: float) -> list[float]:
    """One or two runs in a row that lie ``far`` from the runs around them, drawn in to that distance: squared
    deviations would give them a level of their own."""
    reach = SHORTEST - 1
    middles = [statistics.median(logs[max(0, at - reach) : at + reach + 1]) for at in range(len(logs))]
    return [min(max(value, middle - far), middle + far) for value, middle in zip(logs, middles, strict=True)]


def _also(before: Point, after: Point) -> tuple[str, ...]:
    """What else changed between two runs."""
    found = []
    for name in ("driver", "toolchain", "machine"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            found.append(f"{name} {old or 'unknown'} -> {new or 'unknown'}")
    return tuple(found)
