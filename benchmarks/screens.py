"""The screen on recorded rounds: a round is a run, first rounds of other starts are the stored campaigns."""

from __future__ import annotations

import math
import pathlib
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.retests import complete  # noqa: E402
from benchmarks.rounds_data import Round  # noqa: E402
from pytest_roofline.attribution import Circumstances, compare  # noqa: E402
from pytest_roofline.retest.choice import controls  # noqa: E402
from pytest_roofline.screening import clock_moved, floor_explains  # noqa: E402
from pytest_roofline.statistics import Change, Summary, middle  # noqa: E402
from pytest_roofline.statistics.likeness import STRANGE  # noqa: E402
from pytest_roofline.statistics.screen import (  # noqa: E402
    FALSE_ALARM,
    History,
    Shift,
    compare_run,
    history,
    shift,
)
from pytest_roofline.verdict import Verdict  # noqa: E402

PROCESSES = 3  # whose median a campaign stores


@dataclass(frozen=True)
class Campaigns:
    """What is stored for the runs of one start: the campaigns by name, their summaries by case, what those say."""

    rounds: Mapping[str, Round]
    runs: Mapping[str, Mapping[str, Summary]]
    past: History

    def moved(self, one: Round) -> Shift:
        """What the cases of a run have in common."""
        current = {case: summary for case in self.runs if (summary := one.summary(case)) is not None}
        return shift(current, self.past)

    def moved_again(self, fresh: Sequence[Round], before: Shift) -> Shift:
        """The same as a panel of cases tells that are measured again in fresh processes, as the plugin does."""
        whole = [case for case in self.runs if all(case in one.cases and case not in one.disturbed for one in fresh)]
        panel = controls(whole, (), self.past.likeness.values, random.Random(fresh[0].id))
        if not panel:
            return before
        medians = {case: middle([s for one in fresh if (s := one.summary(case))]) for case in panel}
        return replace(shift(medians, self.past), strange=before.strange)

    def strange(self, moved: Shift) -> bool:
        """Whether a run is like none of the stored campaigns."""
        return moved.strange > STRANGE

    def verdict(
        self,
        one: Round,
        case: str,
        summary: Summary,
        moved: Shift,
        chance: float = FALSE_ALARM,
        clock: float | None = None,
    ) -> Verdict:
        """What the plugin says of a run of a case, were its code not known to be the baseline's.

        ``clock`` is the SM clock under it, that of the unchanged kernel where it is not given.
        """
        runs, others = self.runs[case], [self.rounds[name] for name in self.runs[case]]

        def against_stored(one: Summary) -> Change:
            return compare_run(case, one, runs, self.past, moved, chance)

        clocks = [other.clock(case) for other in others if case in other.cases]
        around = Circumstances(
            floor=floor_explains(summary, one.floor, [other.floor for other in others], against_stored),
            clock=clock_moved(clock or one.clock(case), clocks),
            cycles=case in self.past.cycles and summary.clock_mhz is not None,
            strange=self.strange(moved),
        )
        return compare(against_stored(summary), len(others), around)


def slowed(summary: Summary, by: float) -> Summary:
    """The same run, had every sample taken longer by a fraction."""
    quantiles = tuple(q * (1 + by) for q in summary.quantiles)
    return replace(summary, log_mean=summary.log_mean + math.log1p(by), quantiles=quantiles)


def campaigns(
    starts: Mapping[str, Sequence[Round]], name: str, most: int | None = None, processes: int = PROCESSES
) -> Campaigns:
    """The first rounds of every card on other starts of the machine, each so many ``processes`` of one campaign, of
    cases whose code is the same there and which nothing has disturbed; at most ``most`` campaigns."""
    here = starts[name][0]
    others = {other: complete(rounds) for other, rounds in starts.items() if rounds[0].machine != here.machine}
    chosen = {other: rounds[:processes] for other, rounds in list(others.items())[:most] if rounds}
    runs: dict[str, dict[str, Summary]] = {}
    for case, found in here.cases.items():
        same = {n: [o for o in rounds if _usable(o, case, found["code"])] for n, rounds in chosen.items()}
        runs[case] = {n: middle([o.summary(case) for o in rounds]) for n, rounds in same.items() if rounds}
    runs = {case: stored for case, stored in runs.items() if stored}
    machines = {n: rounds[0].machine for n, rounds in chosen.items()}
    return Campaigns({n: rounds[0] for n, rounds in chosen.items()}, runs, history(runs, machines))


def _usable(one: Round, case: str, code: str) -> bool:
    return case in one.cases and one.cases[case]["code"] == code and case not in one.disturbed
