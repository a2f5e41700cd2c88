"""What the stored baseline of a device would find: a power curve, by time of the kernels. Returns lines only.

Every figure is worked out from a noise that is known or stated, none is counted; ``docs/regression.md`` has counts.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from pytest_roofline.baselines import Baseline, Past, past
from pytest_roofline.statistics import power
from pytest_roofline.statistics.paired import TARGETS
from pytest_roofline.statistics.power import SLOWDOWNS, Power
from pytest_roofline.statistics.screen import expected

_NAMES = {20e-6: "20 us and longer", 5e-6: "5 to 20 us", 0.0: "below 5 us"}
_LIMITED = "power-limited"


def section(baselines: Sequence[Baseline], suspects: int, *, verbose: bool = False) -> list[str]:
    """The curve of the environment of the latest campaign; with ``verbose`` every case as well.

    ``suspects`` is how many cases may raise a false alarm at once: those whose code has changed. Raises ``ValueError``
    where nothing was measured.
    """
    campaigns = {name: environment for baseline in baselines for name, environment in baseline.campaigns.items()}
    if not any(baseline.measured for baseline in baselines):
        raise ValueError("nothing was measured on this device: pytest --benchmark-only --roofline-update stores a run")
    found = past(baselines, campaigns[max(campaigns)])
    kinds = {case: _kind(found, case) for case in found.runs}
    alone, pairs = dict(_screens(found, suspects)), dict(_pairs(found, suspects))
    lines = [_heading(found, max(campaigns)), ""]
    lines += _table("found from the stored baseline alone", alone, kinds)
    lines += ["", *_table("found beside the old kernel (--roofline-against)", pairs, kinds), *_unmeasured(found)]
    if verbose:
        lines += ["", f"{'smallest slowdown found in 99 %':60} {'campaigns':>9} {'alone':>7} {'pairs':>7}"]
        for case in sorted(alone):
            ends = (_percent(chances[case].detectable) for chances in (alone, pairs))
            lines.append(f"{case:60} {len(found.runs[case]):>9} " + " ".join(ends))
    who = "1 case" if suspects == 1 else f"{suspects} cases"
    lines += ["", f"for {who} with changed code in a run, which share 0.01 false alarms"]
    return [*lines, "worked out from the noise of the cases, not counted: docs/regression.md has counts"]


def _unmeasured(found: Past) -> list[str]:
    """Of how many cases the noise of pairs is an assumption."""
    count = sum(1 for case in found.runs if not found.calibrated(case))
    told = "1 case, whose noise" if count == 1 else f"{count} cases, whose noise"
    return [f"  stated, not measured, for {told} of pairs --roofline-calibrate stores"] if count else []


def _heading(found: Past, campaign: str) -> str:
    counts = [len(runs) for runs in found.runs.values()]
    calibrated = sum(1 for case in found.runs if found.calibrated(case))
    return (
        f"{len(counts)} cases as seen from campaign {campaign}, {min(counts)} to {max(counts)} campaigns each, "
        f"{calibrated} of them calibrated"
    )


def _screens(found: Past, suspects: int) -> Iterable[tuple[str, Power]]:
    past, likeness = found.history, found.history.likeness
    moved = past.usual_shift**2 / max(len(found.runs), 1)
    for case in found.runs:
        _, own, times = expected(case, past, {})
        if likeness.usual is not None and case in likeness.spreads:  # a run that is like the stored ones, as those are
            own, times = likeness.spreads[case], likeness.usual
        yield case, power.of_screen(own, times, moved, suspects)


def _pairs(found: Past, suspects: int) -> Iterable[tuple[str, Power]]:
    for case in found.runs:
        seconds, known, limited = _seconds(found, case), found.calibrated(case), _limited(found, case)
        yield case, power.of_pairs(seconds, found.pairs, known, suspects, power_limited=limited)


def _table(title: str, cases: Mapping[str, Power], kinds: Mapping[str, str]) -> list[str]:
    """Mean chances over the cases of a kind, and the median of what they find in 99 %."""
    head = " ".join(f"{100 * by:6.0f}%" for by in SLOWDOWNS)
    lines = [f"{title:52} {head}  in 99 %"]
    for kind in (*_NAMES.values(), _LIMITED):
        mine = [one for case, one in cases.items() if kinds[case] == kind]
        if mine:
            means = (statistics.fmean(one.chances[k] for one in mine) for k in range(len(SLOWDOWNS)))
            shares = " ".join(map(_percent, means))
            median = statistics.median(one.detectable for one in mine)
            lines.append(f"  {f'{kind}, {len(mine)} cases':50} {shares} {_percent(median)}")
    return lines


def _kind(found: Past, case: str) -> str:
    """A case's line in the tables."""
    if _limited(found, case):
        return _LIMITED
    return next(_NAMES[start] for start, _ in TARGETS if _seconds(found, case) >= start)


def _limited(found: Past, case: str) -> bool:
    return any(run.summary.power_limited for run in found.runs[case].values())


def _seconds(found: Past, case: str) -> float:
    return math.exp(statistics.fmean(run.log_mean for run in found.runs[case].values()))


def _percent(share: float) -> str:
    return f"{100 * share:6.1f}%"
