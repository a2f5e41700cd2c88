"""Kernels at the power limit: who they are, and how their time follows the clock that the limit leaves them. Pure.

A card lowers the clock under a large product until its power fits, each card and each start of the machine to another
one. What computes takes as many cycles at any clock, what waits for memory as many seconds: ln t = a - b ln(clock),
with a share b between 0 (seconds) and 1 (cycles) that is the kernel's own. It is fitted to the stored campaigns by
ridge regression towards 1, so that cycles are compared where clocks hardly differed or starts are few.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Mapping

from pytest_roofline.statistics.summaries import Summary

CLOCK_SHIFT = 0.015  # of the SM clock, from where a case's time says something about the clock instead of the kernel
HELD_CLOCK = 0.97  # of the highest clock seen; what no limit holds down ran at 0.98 to 1 of it
RIDGE = 6e-4
"""Squared deviations of ln(clock) from where what the clocks say weighs as much as what is known beforehand: levels
scatter by 0.6 % beside their clocks, shares by 0.25."""

Stored = Mapping[str, Mapping[str, Summary]]  # case -> campaign -> run


def held_down(stored: Stored) -> frozenset[str]:
    """Cases whose clocks the power limit has held down in most campaigns, and is known in all.

    Over 50 such kernels on six H200 the levels of cards scattered by 0.8 % in seconds and by 0.65 % in cycles (median),
    the worst tenth by 2.2 and 1.9 %.
    """
    clocks = {case: [run.clock_mhz for run in runs.values()] for case, runs in stored.items() if runs}
    highest = max((clock for seen in clocks.values() for clock in seen if clock), default=0.0)
    known = {case: [clock for clock in seen if clock] for case, seen in clocks.items() if all(seen)}
    return frozenset(case for case, seen in known.items() if statistics.median(seen) < HELD_CLOCK * highest)


def shares(stored: Stored, held: Collection[str], starts: Mapping[str, str], fewest: int) -> dict[str, float]:
    """The share of each case in ``held`` whose campaigns are of so many ``starts`` (campaign -> start) at least."""
    enough = {case: stored[case] for case in held if len({starts.get(n, n) for n in stored[case]}) >= fewest}
    return {case: share([(run.log_mean, _log(run)) for run in runs.values()]) for case, runs in enough.items()}


def share(runs: Collection[tuple[float, float]]) -> float:
    """The share of a time that goes with the clock, from (ln seconds, ln clock) of some runs of a kernel."""
    time, clock = (statistics.fmean(column) for column in zip(*runs, strict=True))
    squares = math.fsum((f - clock) ** 2 for _, f in runs)
    products = math.fsum((f - clock) * (t - time) for t, f in runs)
    return min(1.0, max(0.0, (RIDGE - products) / (RIDGE + squares)))


def at_clock(run: Summary, share: float) -> float | None:
    """ln t of a run as it would be at 1 Hz: ln(cycles) for a share of 1; ``None`` without its clock."""
    return None if run.clock_mhz is None else run.log_mean + share * _log(run)


def clock_shifted(now: float | None, stored: Iterable[float | None]) -> bool:
    """Whether the SM clock under a kernel lies more than 1.5 % from the median of its stored runs."""
    known = [clock for clock in stored if clock]
    return bool(now and known) and abs(math.log(float(now or 1) / statistics.median(known))) > CLOCK_SHIFT


def _log(run: Summary) -> float:
    return math.log((run.clock_mhz or math.nan) * 1e6)
