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

# Two-sided 99 % quantiles of Student's t by degrees of freedom; beyond the table the last value is an upper bound.
_T99 = (63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169)


@dataclass(frozen=True)
class Summary:
    """One run of one case: ``log_mean`` is the 20-80 % trimmed mean of ln(seconds), which is what comparisons use."""

    log_mean: float
    quantiles: tuple[float, ...]
    count: int

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
    """A new time over the typical old one: ``ratio``, its 99 % interval, and the smallest slowdown that would show."""

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

    The spread is that of the baseline's runs, never below :func:`noise_floor`; with fewer than three runs it is
    the floor alone, doubled, because it is somebody else's figure. Raises ``ValueError`` without a baseline.
    """
    if not baseline:
        raise ValueError("there is no baseline to compare with")
    means = [run.log_mean for run in baseline]
    centre = statistics.fmean(means)
    floor = noise_floor(math.exp(centre))
    runs = len(means)
    if runs >= 3:
        t = _T99[min(runs - 1, len(_T99)) - 1]
        # A floor known from many runs deserves a normal quantile; the spread of a few runs needs Student's.
        half = max(t * statistics.stdev(means), 2.576 * floor) * math.sqrt(1 + 1 / runs)
    else:
        half = 2.576 * 2 * floor * math.sqrt(1 + 1 / runs)
    difference = current.log_mean - centre
    return Change(
        ratio=math.exp(difference),
        low=math.exp(difference - half),
        high=math.exp(difference + half),
        detectable=math.exp(2 * half) - 1,
    )
