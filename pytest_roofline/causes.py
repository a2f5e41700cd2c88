"""What else than the kernel moved between stored runs of a case and another one: its empty launch, its clock. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

from pytest_roofline.attribution import changed
from pytest_roofline.baselines import Run
from pytest_roofline.statistics import Change, Summary
from pytest_roofline.statistics.screen import clock_shifted


def floor_explains(
    summary: Summary,
    launch_floor: float | None,
    runs: Mapping[str, Run],
    against_stored: Callable[[Summary], Change],
) -> float:
    """Seconds by which an empty launch takes longer than in the stored runs, if without them a change is none; else 0.

    ``against_stored`` compares a summary with the stored runs.
    """
    known = [run.launch_floor for run in runs.values() if run.launch_floor]
    if not known or not launch_floor:
        return 0.0
    floor = launch_floor - statistics.median(known)
    rest = summary.shifted(-floor)
    explained = rest is not None and changed(against_stored(summary)) and not changed(against_stored(rest))
    return floor if explained else 0.0


def clock_moved(clock_mhz: float | None, runs: Mapping[str, Run]) -> float:
    """The SM clock under the kernel over the typical one of the stored runs, where it is shifted; else 1."""
    stored = [run.clock_mhz for run in runs.values() if run.clock_mhz]
    return clock_mhz / statistics.median(stored) if clock_mhz and clock_shifted(clock_mhz, stored) else 1.0
