"""The screen on recorded rounds: a round is a run, first rounds of other starts are the stored campaigns."""

from __future__ import annotations

import math
import pathlib
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.rounds_data import Round  # noqa: E402
from pytest_roofline.statistics import Summary  # noqa: E402
from pytest_roofline.statistics.screen import (  # noqa: E402
    FALSE_ALARM,
    History,
    Shift,
    clock_shifted,
    compare_run,
    history,
    shift,
)
from pytest_roofline.verdict import Circumstances, Verdict, changed, compare  # noqa: E402


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
        found = compare_run(case, summary, runs, self.past, moved, chance)
        floor = one.floor - statistics.median(other.floor for other in others)
        rest = summary.shifted(-floor)
        explained = rest is not None and not changed(compare_run(case, rest, runs, self.past, moved, chance))
        clocks, now = [known for other in others if (known := other.clock(case))], clock or one.clock(case)
        off = clock_shifted(now, clocks)
        ratio = now / statistics.median(clocks) if off and now else 1.0
        return compare(found, len(others), Circumstances(floor=floor if explained else 0.0, clock=ratio))


def slowed(summary: Summary, by: float) -> Summary:
    """The same run, had every sample taken longer by a fraction."""
    quantiles = tuple(q * (1 + by) for q in summary.quantiles)
    return replace(summary, log_mean=summary.log_mean + math.log1p(by), quantiles=quantiles)


def campaigns(starts: Mapping[str, Sequence[Round]], name: str, most: int | None = None) -> Campaigns:
    """A round of every card on other starts of the machine, of cases whose code is the same there and which nothing has
    disturbed; at most ``most`` of them."""
    here = starts[name][0]
    others = {other: rounds[0] for other, rounds in starts.items() if rounds[0].machine != here.machine}
    chosen = dict(list(others.items())[:most])
    runs: dict[str, dict[str, Summary]] = {}
    for case, found in here.cases.items():
        same = {n: o for n, o in chosen.items() if case in o.cases and o.cases[case]["code"] == found["code"]}
        kept = {n: o for n, o in same.items() if case not in o.disturbed}
        runs[case] = {n: summary for n, o in kept.items() if (summary := o.summary(case)) is not None}
    runs = {case: stored for case, stored in runs.items() if stored}
    return Campaigns(chosen, runs, history(runs))
