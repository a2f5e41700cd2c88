"""The screen on recorded rounds: a round is a run, first rounds of other starts are the stored campaigns."""

from __future__ import annotations

import pathlib
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.rounds_data import Round  # noqa: E402
from pytest_roofline.statistics import Change, Summary  # noqa: E402
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

    def change(self, one: Round, case: str, planted: float, moved: Shift, chance: float = FALSE_ALARM) -> Change:
        """A case of a run against what is stored of it."""
        summary = one.summary(case, planted)
        assert summary is not None
        return compare_run(case, summary, self.runs[case], self.past, moved, chance)

    def verdict(self, one: Round, case: str, planted: float, moved: Shift, chance: float = FALSE_ALARM) -> Verdict:
        """What the plugin says of it, were its code not known to be the baseline's."""
        found = self.change(one, case, planted, moved, chance)
        summary, others = one.summary(case, planted), [self.rounds[name] for name in self.runs[case]]
        floor = one.floor - statistics.median(other.floor for other in others)
        rest = summary.shifted(-floor) if summary else None
        runs = self.runs[case]
        explained = rest is not None and not changed(compare_run(case, rest, runs, self.past, moved, chance))
        clocks = [clock for other in others if (clock := other.clock(case))]
        now = one.clock(case, planted)
        off = clock_shifted(now, clocks)
        clock = now / statistics.median(clocks) if off and now else 1.0
        return compare(found, len(others), Circumstances(floor=floor if explained else 0.0, clock=clock))


def campaigns(starts: Mapping[str, Sequence[Round]], name: str, most: int | None = None) -> Campaigns:
    """The first round of every card on other starts of the machine, of cases whose code is the same there; at most
    ``most`` of them."""
    here = starts[name][0]
    others = {other: rounds[0] for other, rounds in starts.items() if rounds[0].machine != here.machine}
    chosen = dict(list(others.items())[:most])
    runs: dict[str, dict[str, Summary]] = {}
    for case, found in here.cases.items():
        same = {n: o for n, o in chosen.items() if case in o.cases and o.cases[case]["code"] == found["code"]}
        runs[case] = {n: summary for n, o in same.items() if (summary := o.summary(case)) is not None}
    runs = {case: stored for case, stored in runs.items() if stored}
    return Campaigns(chosen, runs, history(runs))
