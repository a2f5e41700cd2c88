"""A case of a run against its stored runs: how it changed, and what else than the kernel moved between them. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pytest_roofline.attribution import Circumstances, changed, compare
from pytest_roofline.baselines import Past, another_host, start_of
from pytest_roofline.evidence import Environment
from pytest_roofline.statistics import Change, Summary
from pytest_roofline.statistics.clocks import clock_shifted
from pytest_roofline.statistics.likeness import STRANGE
from pytest_roofline.statistics.screen import Shift, compare_run, in_seconds
from pytest_roofline.verdict import Verdict


@dataclass(frozen=True)
class Measured:
    """What a run says of a case: the ``summary`` of its brackets, seconds of an empty launch and the SM clock beside
    them, and whether its code is the baseline's."""

    summary: Summary
    protocol: str
    launch_floor: float | None
    clock_mhz: float | None
    same_code: bool


def screen(case: str, found: Measured, before: Past, moved: Shift, chance: float, here: Environment) -> Verdict:
    """The verdict on ``case`` in a run that ``moved`` as a whole, at that chance of a false alarm: against the
    campaigns of the environment ``here``, or against all of them, named as such, if there are none."""
    runs = before.runs.get(case, {})
    if not runs:
        return compare(None, 0)
    stored = {campaign: run.summary for campaign, run in runs.items()}

    def against_stored(summary: Summary) -> Change:
        return compare_run(case, summary, stored, before.history, moved, chance)

    around = Circumstances(
        differences=before.differences.get(case, ()),
        same_code=found.same_code,
        floor=floor_explains(
            found.summary, found.launch_floor, [run.launch_floor for run in runs.values()], against_stored
        ),
        clock=clock_moved(found.clock_mhz, [run.clock_mhz for run in runs.values()]),
        cycles=case in before.history.cycles and found.summary.clock_mhz is not None,
        strange=moved.strange > STRANGE,
        host=another_host(found.protocol, here, runs),
        whole=moved.unexplained,
        seconds=in_seconds(found.summary, stored.values(), moved),
        starts=len(set(map(start_of, runs))),
    )
    return compare(against_stored(found.summary), len(runs), around)


def floor_explains(
    summary: Summary,
    launch_floor: float | None,
    stored: Iterable[float | None],
    against_stored: Callable[[Summary], Change],
) -> float:
    """Seconds by which an empty launch takes longer than in the ``stored`` runs, if without them a change is none;
    else 0.

    ``against_stored`` compares a summary with those runs.
    """
    known = [floor for floor in stored if floor]
    if not known or not launch_floor:
        return 0.0
    floor = launch_floor - statistics.median(known)
    rest = summary.shifted(-floor)
    explained = rest is not None and changed(against_stored(summary)) and not changed(against_stored(rest))
    return floor if explained else 0.0


def clock_moved(clock_mhz: float | None, stored: Iterable[float | None]) -> float:
    """The SM clock under the kernel over the typical one of the ``stored`` runs, where it is shifted; else 1."""
    known = [clock for clock in stored if clock]
    return clock_mhz / statistics.median(known) if clock_mhz and clock_shifted(clock_mhz, known) else 1.0
