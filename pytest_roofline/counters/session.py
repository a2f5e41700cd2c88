"""The counters of one session: choose cases, profile them once, and say what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_roofline.contract import Case
from pytest_roofline.counters import choosing, ncu
from pytest_roofline.counters.metrics import Counters, dominant, plain
from pytest_roofline.evidence import CaseSpec
from pytest_roofline.judging import Row


@dataclass(frozen=True)
class Profiled:
    """``cases`` has the longest launch of each profiled case, ``lines`` what a reader of the run is told."""

    cases: Mapping[str, Counters] = field(default_factory=dict)
    lines: tuple[str, ...] = ()

    def figures(self, case: str) -> dict[str, Any]:
        """Counters of one case for a run file; empty where it was not profiled."""
        return plain(self.cases[case]) if case in self.cases else {}


def profiled(
    rows: Sequence[Row],
    wanted: Sequence[str],
    spec: Callable[[Case], CaseSpec],
    profile: Callable[[Sequence[CaseSpec]], ncu.Profile] = ncu.profile,
) -> Profiled:
    """Profile the cases that ``wanted`` chooses; never raises for a machine that does not allow it."""
    if not wanted or not rows:
        return Profiled()
    chosen = choosing.choose(rows, wanted)
    if not chosen:
        return Profiled(lines=(f"counters: no timed case is {' or '.join(wanted)}",))
    try:
        found = profile([spec(row.case) for row in chosen])
    except ncu.CountersUnavailableError as reason:
        return Profiled(lines=(f"counters: none. {reason}",))
    longest = {case: dominant(launches) for case, launches in found.cases.items()}
    cases = {case: counters for case, counters in longest.items() if counters is not None}
    lines = [f"counters of {len(cases)} of {len(chosen)} chosen cases, {found.tool}"]
    lines += [f"  no counters of {case}: {problem}" for case, problem in found.problems.items()]
    return Profiled(cases, tuple(lines))
