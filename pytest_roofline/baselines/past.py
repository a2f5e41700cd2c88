"""The stored campaigns of a device as the environment at hand sees them: which count, and what they say of noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_roofline.baselines.content import Baseline, Noise, Run, differences, of_one_kernel, start_of
from pytest_roofline.evidence import Environment
from pytest_roofline.statistics.noise import Prior, between_pairs
from pytest_roofline.statistics.paired import prior_of
from pytest_roofline.statistics.screen import History, history


@dataclass(frozen=True)
class Past:
    """``runs`` of each case by campaign, of one kernel each: those of the environment at hand or, where there are none,
    all that there are, and then ``differences`` says what else changed. ``noise`` are differences of the unchanged
    kernel, by case."""

    runs: Mapping[str, Mapping[str, Run]] = field(default_factory=dict)
    differences: Mapping[str, Sequence[str]] = field(default_factory=dict)
    history: History = field(default_factory=History)
    noise: Mapping[str, Sequence[Noise]] = field(default_factory=dict)
    pairs: Prior = field(default_factory=lambda: prior_of(()))

    def calibrated(self, case: str) -> list[float]:
        """Every stored difference of the unchanged kernel from itself."""
        return [difference for noise in self.noise.get(case, ()) for difference in noise.differences]


def past(baselines: Iterable[Baseline], here: Environment) -> Past:
    """What all files of a device say to a run in the environment ``here``."""
    runs: dict[str, Mapping[str, Run]] = {}
    changed: dict[str, Sequence[str]] = {}
    noise: dict[str, Sequence[Noise]] = {}
    for baseline in baselines:
        foreign = {name: differences(stored, here) for name, stored in baseline.campaigns.items()}
        for case, stored in baseline.measured.items():
            alike = {name: run for name, run in stored.items() if not foreign[name]}
            runs[case] = of_one_kernel(alike or stored)
            if not alike:
                changed[case] = list(dict.fromkeys(d for name in stored for d in foreign[name]))
        for case, found in baseline.noise.items():
            noise[case] = [one for name, one in found.items() if not foreign[name]]
    summaries = {case: {name: run.summary for name, run in stored.items()} for case, stored in runs.items()}
    pairs = prior_of(
        [
            (between_pairs(n.seconds, power_limited=n.power_limited), n.differences)
            for found in noise.values()
            for n in found
        ]
    )
    starts = {name: start_of(name) for stored in runs.values() for name in stored}
    return Past(runs, changed, history(summaries, starts), noise, pairs)
