"""Summaries of samples, and what a comparison of two says. Pure; times in seconds, comparisons on the logarithm."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
ALARMS = 0.01  # false alarms that a campaign may raise, shared by the cases that may raise one
MOST_ALARM = 1e-3  # of one case, however few there are
MINIMAL = 0.005  # a change this small is not worth a verdict, however certain it is

_ROUNDING = 1e-9  # of a mean of logarithms, far above what doubles lose


@dataclass(frozen=True)
class Summary:
    """One run of one case: ``log_mean`` is the 20-80 % trimmed mean of ln(seconds), which is what comparisons use.

    ``power_limited`` says that the power limit held the clocks down, ``clock_mhz`` is the SM clock under the kernel,
    where it is known. Raises ``ValueError`` unless there are at least
    two samples, positive ascending :data:`QUANTILES`, and a finite mean among them: no verdict rests on less.
    """

    log_mean: float
    quantiles: tuple[float, ...]
    count: int
    power_limited: bool = False
    clock_mhz: float | None = None

    def __post_init__(self) -> None:
        if self.count < 2:
            raise ValueError(f"a summary needs at least two samples, got {self.count}")
        if len(self.quantiles) != len(QUANTILES) or not all(0 < q < math.inf for q in self.quantiles):
            raise ValueError(f"{len(QUANTILES)} positive quantiles are needed, got {self.quantiles}")
        if list(self.quantiles) != sorted(self.quantiles):
            raise ValueError(f"quantiles must ascend, got {self.quantiles}")
        if not math.isfinite(self.log_mean):
            raise ValueError(f"the mean must be finite, got {self.log_mean}")
        if self.clock_mhz is not None and not 0 < self.clock_mhz < math.inf:
            raise ValueError(f"a clock must be a positive number of MHz, got {self.clock_mhz}")
        # Fewer than five samples are not trimmed, and their interpolated quantiles lie within the extremes.
        low, high = (math.log(q) for q in (self.quantiles[0], self.quantiles[-1]))
        if self.count >= 5 and not low - _ROUNDING <= self.log_mean <= high + _ROUNDING:
            raise ValueError(f"the mean {self.log_mean} does not lie within the quantiles")

    @property
    def seconds(self) -> float:
        """The typical time."""
        return math.exp(self.log_mean)

    @property
    def log_cycles(self) -> float | None:
        """The typical number of clock cycles, as a logarithm."""
        return None if self.clock_mhz is None else self.log_mean + math.log(self.clock_mhz * 1e6)

    def shifted(self, seconds: float) -> Summary | None:
        """The same run with samples longer by ``seconds``, as far as a trimmed mean tells; ``None`` for no time."""
        if self.seconds + seconds <= 0 or self.quantiles[0] + seconds <= 0:
            return None
        moved = tuple(q + seconds for q in self.quantiles)
        return replace(self, log_mean=math.log(self.seconds + seconds), quantiles=moved)

    @property
    def median(self) -> float:
        """The middle sample, in seconds."""
        return self.quantiles[QUANTILES.index(0.5)]


@dataclass(frozen=True)
class Change:
    """A new time over the typical old one: ``ratio``, its interval, and the smallest slowdown that would show.

    The interval is as wide as the rule behind it needs it: a change is called one where all of it lies beyond
    :data:`MINIMAL`. ``detectable`` is a fraction: a kernel slowed by it has such an interval in 99 % of runs.
    ``excluded`` is one, too: a kernel slowed by it looks as fast as this once in 4000 runs against stored campaigns
    (``screen.CLEARED``), once in 1000 in pairs (``paired.CLEARED``).
    """

    ratio: float
    low: float
    high: float
    detectable: float
    excluded: float = math.inf


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


def middle(runs: Sequence[Summary]) -> Summary:
    """Several processes of one case as one run: the first, moved to the median of their times and of their cycles.

    Raises ``ValueError`` for none.
    """
    if not runs:
        raise ValueError("there is no run to take the median of")
    time = statistics.median(run.log_mean for run in runs)
    cycles = [run.log_cycles for run in runs if run.log_cycles is not None]
    clock = math.exp(statistics.median(cycles) - time) / 1e6 if len(cycles) == len(runs) else None
    ratio = math.exp(time - runs[0].log_mean)
    return replace(runs[0], log_mean=time, quantiles=tuple(q * ratio for q in runs[0].quantiles), clock_mhz=clock)


def alarm(cases: int) -> float:
    """The chance of a false alarm that each of so many cases may have, on one side."""
    return min(MOST_ALARM, ALARMS / max(cases, 1))


def quantile(ordered: Sequence[float], share: float) -> float:
    """The ``share`` quantile of ascending numbers, linearly interpolated."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
