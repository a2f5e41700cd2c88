"""A run against stored campaigns: how far each case moved from what campaigns like this one say, once what moved all of
them alike is taken out. Pure.

The rule is worked out and simulated in ``docs/regression.md``.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from pytest_roofline.statistics.clocks import at_clock, held_down, shares
from pytest_roofline.statistics.likeness import STARTS, Likeness, controls, fit
from pytest_roofline.statistics.noise import Prior, Spread, between_runs, blend, by_start, fit_prior
from pytest_roofline.statistics.summaries import MINIMAL, Change, Summary, alarm

FALSE_ALARM = alarm(400)  # of one unchanged case, while it is not known how many can have changed
HEAVY = 1e-3  # chance below which a tail is left that falls with its cube: benchmarks/detectors.py
MISS = 0.01  # of a slowdown of the size called detectable
CLEARED = 2.5e-4  # of a slowdown of the size called excluded, which is not retested
CAMPAIGN_SHIFT = 0.005  # stated standard deviation of what a whole campaign has in common
LARGE_SHIFT = 0.01  # a shift of the whole run that is always reported
UNUSUAL = 3.0  # so many standard deviations of past campaigns are reported as well
ANCHORS = 16  # cases of unchanged code from which their median widens the interval of a like case by less than 5 %
_SWEEPS = 4  # of the median polish; it has settled after two on every baseline seen

Runs = Mapping[str, Summary]  # campaign -> summary of one case


@dataclass(frozen=True)
class Shift:
    """What a whole campaign has in common, on ln(seconds): an estimate, its standard error, over so many cases.

    ``usual`` is the standard deviation of past campaigns. The estimate is drawn towards 0 as far as that says.
    ``distances`` are those of the run from each stored campaign, ``strange`` how much worse the best mixture of them
    predicts it than it predicts a stored one (``likeness.py``). ``anchored``: only cases whose code is the stored one
    were asked, so that what they have in common is the machine's.
    """

    seen: float = 0.0
    error: float = math.inf
    cases: int = 0
    usual: float = CAMPAIGN_SHIFT
    distances: Mapping[str, float] = field(default_factory=dict)
    strange: float = 1.0
    anchored: bool = False

    @property
    def mean(self) -> float:
        """What is taken out of every case. Past campaigns say nothing of one that moved as none of them has."""
        if self.remarkable:
            return self.seen
        return 0.0 if math.isinf(self.error) else self.seen * self.usual**2 / (self.usual**2 + self.error**2)

    @property
    def variance(self) -> float:
        """How uncertain :attr:`mean` is."""
        if self.remarkable:
            return self.error**2
        return 1 / (1 / self.usual**2 + (0.0 if math.isinf(self.error) else 1 / max(self.error, 1e-9) ** 2))

    @property
    def remarkable(self) -> bool:
        """Whether the whole run moved so far that it must be told: it may be the machine, or all kernels together."""
        if self.cases < 2:
            return False
        certain = abs(self.seen) > 2 * self.error
        return certain and (abs(self.seen) > LARGE_SHIFT or abs(self.seen) > UNUSUAL * self.usual)

    @property
    def unexplained(self) -> float:
        """What is taken out of every case although the code may have done it; 0 for a shift that is not remarkable, or
        that unchanged code shows as well."""
        return self.mean if self.remarkable and not self.anchored else 0.0


@dataclass(frozen=True)
class History:
    """What stored campaigns say: the level of each case without the campaigns' shifts, the variance of its ``own`` with
    its degrees of freedom, the shifts, the prior of the variances and the ``stated`` noise, and which campaigns are
    like each other. Cases in ``cycles`` are compared at equal clocks, all others in seconds: in clock cycles, or by the
    ``shares`` of their times that go with the clock (``clocks.py``). ``starts`` of the machine are what is counted,
    where they are known (campaign -> start): cards of one start differ less than starts do."""

    levels: Mapping[str, float] = field(default_factory=dict)
    own: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    shifts: Mapping[str, float] = field(default_factory=dict)
    prior: Prior = field(default_factory=Prior)
    likeness: Likeness = field(default_factory=Likeness)
    cycles: frozenset[str] = frozenset()
    stated: Mapping[str, float] = field(default_factory=dict)
    starts: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)

    def value(self, case: str, run: Summary) -> float | None:
        """What is compared of a run; ``None`` where its clock would have to be known."""
        return at_clock(run, self.shares.get(case, 1.0)) if case in self.cycles else run.log_mean

    @property
    def usual_shift(self) -> float:
        """Standard deviation of the campaigns' shifts: the stated one, or what campaigns of five and more starts
        show."""
        seen = list(self.shifts.values())
        starts = {self.starts.get(name, name) for name in self.shifts}
        return max(statistics.stdev(seen), 1e-3) if len(starts) >= 5 else CAMPAIGN_SHIFT


def history(stored: Mapping[str, Runs], starts: Mapping[str, str] | None = None) -> History:
    """Fit levels and campaign shifts to what is stored (case -> campaign -> summary) by median polish, which a few
    changed cases do not disturb. ``starts`` says on which start of the machine a campaign was taken."""
    starts = starts or {}
    held = held_down(stored)
    follow = shares(stored, held, starts, STARTS)
    values = {
        case: {name: _value(run, follow.get(case, 1.0) if case in held else 0.0) for name, run in runs.items()}
        for case, runs in stored.items()
        if runs
    }
    campaigns = sorted({name for runs in values.values() for name in runs})
    shifts = dict.fromkeys(campaigns, 0.0)
    levels: dict[str, float] = {}
    for _ in range(_SWEEPS):
        levels = {
            case: by_start({name: x - shifts[name] for name, x in runs.items()}, starts)[0]
            for case, runs in values.items()
        }
        shifts = _centred({name: _shift(values, levels, name) for name in campaigns})
    plain = {case: {name: x - shifts[name] for name, x in runs.items()} for case, runs in values.items()}
    own = {case: _scatter(runs, starts, fitted=case in follow) for case, runs in plain.items()}
    stated = {case: _stated(stored[case].values()) for case in values}
    known = ((variance / stated[case] ** 2, degrees) for case, (variance, degrees) in own.items())
    prior = fit_prior(known) if len({starts.get(name, name) for name in campaigns}) >= STARTS else Prior()
    # Cards that are alike otherwise lower their clocks differently: of 0.40 % that levels of such kernels are off the
    # mean of other starts, 0.41 % are left by the mixture.
    free = {case: runs for case, runs in plain.items() if case not in held}
    return History(levels, own, shifts, prior, fit(free, stated, starts), held, stated, starts, follow)


def _value(run: Summary, share: float) -> float:
    """At equal clocks, as far as the time goes with the clock; the time itself where that is not known."""
    at = at_clock(run, share) if share else None
    return run.log_mean if at is None else at


def _scatter(values: Mapping[str, float], starts: Mapping[str, str], *, fitted: bool) -> tuple[float, int]:
    """The variance of a case's own with its degrees of freedom, of which a ``fitted`` share of the clock takes one."""
    _, variance, degrees = by_start(values, starts)
    return (variance * degrees / (degrees - 1), degrees - 1) if fitted else (variance, degrees)


def _centred(shifts: dict[str, float]) -> dict[str, float]:
    """What all campaigns have in common belongs to the levels."""
    middle = statistics.fmean(shifts.values()) if shifts else 0.0
    return {name: shift - middle for name, shift in shifts.items()}


def _shift(values: Mapping[str, Mapping[str, float]], levels: Mapping[str, float], campaign: str) -> float:
    """The median movement of a campaign's cases; only those that other campaigns hold as well say anything."""
    moved = [runs[campaign] - levels[case] for case, runs in values.items() if campaign in runs and len(runs) > 1]
    return statistics.median(moved) if len(moved) > 2 else 0.0


def shift(current: Mapping[str, Summary], past: History, unchanged: Collection[str] = ()) -> Shift:
    """What the cases of a run have moved in common, and which campaigns it is like. ``unchanged`` are cases whose code
    is known to be the stored one: enough of them tell either on their own, so that kernels that all became slower are
    not taken for the machine."""
    found = {case: past.value(case, run) for case, run in current.items() if case in past.levels}
    values = {case: value for case, value in found.items() if value is not None}
    distances = past.likeness.to({case: values[case] for case in controls(values, unchanged)})
    strange = past.likeness.strangeness(distances)
    same = values.keys() & set(unchanged)
    anchored = len(same) >= ANCHORS
    moved = [values[case] - expected(case, past, distances)[0] for case in (same if anchored else values)]
    if len(moved) < 3:
        return Shift(usual=past.usual_shift, distances=distances, strange=strange)
    middle = statistics.median(moved)
    spread = 1.4826 * statistics.median(abs(x - middle) for x in moved)
    # Standard error of a median of normal variables; cases share noise, so it is not believed below 0.05 %.
    error = max(1.2533 * spread / math.sqrt(len(moved)), 5e-4)
    return Shift(middle, error, len(moved), past.usual_shift, distances, strange, anchored)


def expected(case: str, past: History, distances: Mapping[str, float]) -> tuple[float, Spread, float]:
    """The value of a stored case in a run that is so far from each campaign, the variance of a case, and by how many of
    those run and value differ. Of a run of few cases it is not known which campaigns it is like: all of them count."""
    found = past.likeness.expected(case, distances) if distances else None
    if found is not None:
        return found[0], past.likeness.spreads[case], found[1]
    variance, degrees = past.own[case]
    return past.levels[case], blend(past.prior, past.stated[case], variance, degrees), 1 + 1 / (degrees + 1)


def compare_run(
    case: str, current: Summary, runs: Runs, past: History, moved: Shift, chance: float = FALSE_ALARM
) -> Change:
    """One case of a run against its stored campaigns, at a chance of a false alarm.

    Raises ``ValueError`` without a campaign.
    """
    if not runs:
        raise ValueError("there is no baseline to compare with")
    value = past.value(case, current)
    if value is None or case not in past.levels:  # of the stored runs only their seconds can be compared with
        level, variance, degrees = by_start({name: run.log_mean for name, run in runs.items()}, past.starts)
        own, times = blend(past.prior, _stated(runs.values()), variance, degrees), 1 + 1 / (degrees + 1)
        difference = current.log_mean - level
    else:
        level, own, times = expected(case, past, moved.distances)
        difference = value - level
    return change(difference - moved.mean, own, times, moved.variance, chance)


def in_seconds(current: Summary, runs: Iterable[Summary], moved: Shift) -> float:
    """The time of a run over the typical one of stored runs, without what the whole run has moved."""
    return math.exp(current.log_mean - statistics.fmean(run.log_mean for run in runs) - moved.mean)


def tail_of(chance: float) -> float:
    """The tail of Student's distribution to leave for a ``chance`` of a false alarm.

    Levels of starts have heavier tails than a variance of few runs accounts for: in simulations with those that were
    recorded a tail of 1e-3 gives two thirds as many alarms, one of 1e-6 sixty times as many.
    """
    return min(chance, chance * (chance / HEAVY) ** 2)


def change(difference: float, own: Spread, times: float, beside: float = 0.0, chance: float = FALSE_ALARM) -> Change:
    """What a difference of ln(seconds) says when its variance is ``own`` ``times`` over, and ``beside`` more."""
    half, miss, clear = (
        math.hypot(own.half_width(tail, times), Spread(beside, math.inf).half_width(tail))
        for tail in (tail_of(chance), MISS, CLEARED)
    )
    return Change(
        ratio=math.exp(difference),
        low=math.exp(difference - half),
        high=math.exp(difference + half),
        detectable=(1 + MINIMAL) * math.exp(half + miss) - 1,
        excluded=math.exp(difference + clear) - 1,
    )


def _stated(runs: Iterable[Summary]) -> float:
    known = list(runs)
    seconds = math.exp(statistics.fmean(run.log_mean for run in known))
    return between_runs(seconds, power_limited=any(run.power_limited for run in known))
