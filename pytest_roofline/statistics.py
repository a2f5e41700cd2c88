"""Summaries of samples and how two of them compare. Pure; times in seconds, comparisons on the logarithm.

One run's samples say how much the clock jitters, not how much another run would differ: between-run differences are up
to ten times larger, so intervals come from several campaigns, or from a stated noise figure where there is only one.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MINIMAL = 0.005  # a change this small is not worth a verdict, however certain it is

# Standard deviation of ln(seconds) between starts of a machine for a power-limited kernel: an fp16 GEMM of 4096^3 had
# medians 0, +2.2 and -0.4 % on three starts of one H200, because its clocks differed.
POWER_LIMITED = 0.014

# The same between single runs of any kernel on two starts, which need not be on the same card: over 127 cases on two
# starts of H200 machines the difference was 1.3 % (root mean square; largest 3.5 %), sqrt(2) times that of one run.
BETWEEN_STARTS = 0.010

_ROUNDING = 1e-9  # of a mean of logarithms, far above what doubles lose
_Z99 = 2.576  # two-sided 99 % quantile of the normal distribution
# The same of Student's t by degrees of freedom; beyond the table the last value is an upper bound.
_T99 = (63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169)


@dataclass(frozen=True)
class Summary:
    """One run of one case: ``log_mean`` is the 20-80 % trimmed mean of ln(seconds), which is what comparisons use.

    ``power_limited`` says that the power limit held the clocks down. Raises ``ValueError`` unless there are at least
    two samples, positive ascending :data:`QUANTILES`, and a finite mean among them: no verdict rests on less.
    """

    log_mean: float
    quantiles: tuple[float, ...]
    count: int
    power_limited: bool = False

    def __post_init__(self) -> None:
        if self.count < 2:
            raise ValueError(f"a summary needs at least two samples, got {self.count}")
        if len(self.quantiles) != len(QUANTILES) or not all(0 < q < math.inf for q in self.quantiles):
            raise ValueError(f"{len(QUANTILES)} positive quantiles are needed, got {self.quantiles}")
        if list(self.quantiles) != sorted(self.quantiles):
            raise ValueError(f"quantiles must ascend, got {self.quantiles}")
        if not math.isfinite(self.log_mean):
            raise ValueError(f"the mean must be finite, got {self.log_mean}")
        # Fewer than five samples are not trimmed, and their interpolated quantiles lie within the extremes.
        low, high = (math.log(q) for q in (self.quantiles[0], self.quantiles[-1]))
        if self.count >= 5 and not low - _ROUNDING <= self.log_mean <= high + _ROUNDING:
            raise ValueError(f"the mean {self.log_mean} does not lie within the quantiles")

    @property
    def seconds(self) -> float:
        """The typical time."""
        return math.exp(self.log_mean)

    @property
    def median(self) -> float:
        """The middle sample, in seconds."""
        return self.quantiles[QUANTILES.index(0.5)]


@dataclass(frozen=True)
class Change:
    """A new time over the typical old one: ``ratio``, its 99 % interval, and the smallest slowdown that would show.

    ``detectable`` is a fraction: a kernel slowed by it has an interval above 1 + :data:`MINIMAL` in 99.5 % of runs.
    """

    ratio: float
    low: float
    high: float
    detectable: float


def summarise(samples: Sequence[float]) -> Summary:
    """Summarise one run. Raises ``ValueError`` for fewer than two samples, or any that is not a positive number."""
    if len(samples) < 2:
        raise ValueError(f"a summary needs at least two samples, got {len(samples)}")
    if not all(0 < s < math.inf for s in samples):
        raise ValueError("every sample must be a positive, finite number of seconds")
    ordered = sorted(samples)
    cut = len(ordered) // 5
    middle = ordered[cut : len(ordered) - cut]
    return Summary(
        statistics.fmean(map(math.log, middle)), tuple(quantile(ordered, q) for q in QUANTILES), len(ordered)
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The ``share`` quantile of ascending numbers, linearly interpolated."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def noise_floor(seconds: float) -> float:
    """Smallest standard deviation of ln(seconds) between two runs that is believed, whatever K runs happen to show.

    Fitted by hand to medians measured on an H200 in 20 processes over three starts of the machine: 0.04-0.16 % above
    50 us within a start and at most 0.4 % between starts, 0.8 % at 10 us, 1.6-2.2 % at 4.7 us for single-shot events.
    Graph brackets are steadier than those, so this errs towards caution.
    """
    return max(0.002, min(0.02, 0.002 * (50e-6 / seconds) ** 0.9)) if seconds < 50e-6 else 0.002


def change(current: Summary, baseline: Sequence[Summary]) -> Change:
    """``current`` against the stored runs of the same case, as a prediction interval for one more run.

    Raises ``ValueError`` without a baseline.
    """
    if not baseline:
        raise ValueError("there is no baseline to compare with")
    half = _half_width(baseline)
    difference = current.log_mean - statistics.fmean(run.log_mean for run in baseline)
    return Change(
        ratio=math.exp(difference),
        low=math.exp(difference - half),
        high=math.exp(difference + half),
        detectable=(1 + MINIMAL) * math.exp(2 * half) - 1,
    )


def _half_width(baseline: Sequence[Summary]) -> float:
    """Half the 99 % interval of one more run, on the logarithm.

    Three runs and more know their own spread, which is never believed below the floor. One or two hardly do: there the
    spread between starts that others have shown counts, and two runs that differ by more count as they are.
    """
    means = [run.log_mean for run in baseline]
    runs = len(means)
    floor = noise_floor(math.exp(statistics.fmean(means)))
    limited = POWER_LIMITED if any(run.power_limited for run in baseline) else 0.0
    seen = statistics.stdev(means) if runs > 1 else 0.0
    one_more = math.sqrt(1 + 1 / runs)
    if runs < 3:
        return _Z99 * max(BETWEEN_STARTS, limited, seen) * one_more
    # A floor known from many runs deserves a normal quantile; the spread of a few runs needs Student's.
    return max(_T99[min(runs - 1, len(_T99)) - 1] * seen, _Z99 * max(floor, limited)) * one_more
