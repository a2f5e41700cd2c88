"""How much runs of an unchanged kernel differ: what is known beforehand, and what many cases say about one. Pure.

A case has few campaigns, so its own variance is hardly known; hundreds of cases have some each. Empirical Bayes
moderation (Smyth, "Linear models and empirical Bayes methods", 2004, sections 3 and 6) draws each variance towards what
all of them have in common, and counts how much that is worth in degrees of freedom. Short and power-limited kernels are
noisier, so variances are compared in units of a stated noise.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_roofline.statistics.distributions import digamma, student_quantile, trigamma, trigamma_inverse

# Standard deviation of ln(seconds) between single runs of any kernel on two starts, which need not be on the same card:
# over 127 cases on two starts of H200 machines the difference was 1.3 % (root mean square; largest 3.5 %), sqrt(2)
# times that of one run.
BETWEEN_STARTS = 0.010

# The same for a power-limited kernel: an fp16 GEMM of 4096^3 had medians 0, +2.2 and -0.4 % on three starts of one
# H200, because its clocks differed.
POWER_LIMITED = 0.014

PAIRS_POWER_LIMITED = 0.0015
"""Of pairs of a power-limited kernel in different processes, ln(new / old): in half of 50 cases on two H200 it was less
than 0.11 %, in a tenth more than 0.5 %."""

_FEWEST = 10  # cases with a variance of their own before a prior is fitted to them
_STATED_DEGREES = (
    20.0  # what the stated noise is worth where nothing was fitted: it comes from other cases and machines
)
FEWEST_DEGREES = 4.0  # below them a variance of two runs says nothing, and the quantiles of rare alarms explode
MOST_DEGREES = 20.0  # however alike cases are: one that is not must keep what its own runs say
OUTLYING = 3.0  # robust standard deviations of ln(variance)
NO_VARIANCE = 1e-4  # of the stated one: equal summaries are no proof of a machine without noise


@dataclass(frozen=True)
class Prior:
    """What is known about a case's variance before it is seen: ``scale`` in units of the stated variance, worth
    ``degrees`` degrees of freedom; fitted to ``cases`` cases, 0 where it is only stated."""

    scale: float = 1.0
    degrees: float = _STATED_DEGREES
    cases: int = 0


@dataclass(frozen=True)
class Spread:
    """A variance of ln(seconds) and how many degrees of freedom it is worth."""

    variance: float
    degrees: float

    def half_width(self, tail: float, times: float = 1.0) -> float:
        """Half of the interval that leaves ``tail`` on either side, for ``times`` as much variance."""
        return student_quantile(tail, self.degrees) * math.sqrt(self.variance * times)


def between_runs(seconds: float, *, power_limited: bool = False) -> float:
    """Stated standard deviation of ln(seconds) between runs on different starts."""
    return max(BETWEEN_STARTS, _short(seconds), POWER_LIMITED if power_limited else 0.0)


def between_pairs(seconds: float, *, power_limited: bool = False) -> float:
    """Stated standard deviation of ln(new / old) between processes that run both on the same buffers.

    312 unchanged kernels on two H200 gave 0.08 % from 20 us on, 0.15 % from 5 to 20 us and 0.19 % below.
    """
    short = max(0.001, min(0.01, 0.001 * (20e-6 / seconds))) if seconds < 20e-6 else 0.001
    return max(short, PAIRS_POWER_LIMITED) if power_limited else short


def _short(seconds: float) -> float:
    """Short kernels: 0.2 % from 50 us up, 0.8 % at 10 us, 2 % below 4 us, as medians on an H200 in 20 processes over
    three starts were (single-shot events; graph brackets are steadier, so this errs towards caution)."""
    return max(0.002, min(0.02, 0.002 * (50e-6 / seconds) ** 0.9)) if seconds < 50e-6 else 0.002


def fit_prior(variances: Iterable[tuple[float, int]]) -> Prior:
    """A prior from ``(variance in units of the stated one, degrees of freedom)`` of many cases, by the moments of the
    logarithm of a scaled F variable; the stated prior for fewer than ten cases.

    A variance far beyond all others (a kernel that changed unnoticed between campaigns) says nothing about noise.
    """
    known = _without_outliers([(max(variance, NO_VARIANCE), degrees) for variance, degrees in variances if degrees > 0])
    if len(known) < _FEWEST:
        return Prior()
    logs = [math.log(v) - digamma(d / 2) + math.log(d / 2) for v, d in known]
    mean = statistics.fmean(logs)
    excess = statistics.variance(logs, mean) - statistics.fmean(trigamma(d / 2) for _, d in known)
    if excess <= 0:  # the cases do not differ in noise
        return Prior(math.exp(mean), MOST_DEGREES, len(known))
    degrees = max(FEWEST_DEGREES, 2 * trigamma_inverse(excess))
    scale = math.exp(mean + digamma(degrees / 2) - math.log(degrees / 2))
    return Prior(scale, min(degrees, MOST_DEGREES), len(known))


def _without_outliers(known: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    if not known:
        return []
    logs = [math.log(variance) for variance, _ in known]
    middle = statistics.median(logs)
    limit = middle + OUTLYING * max(1.4826 * statistics.median(abs(x - middle) for x in logs), 0.5)
    return [one for one, x in zip(known, logs, strict=True) if x <= limit]


def moderate(prior: Prior, stated: float, values: Sequence[Sequence[float]]) -> Spread:
    """The variance of a case whose stated standard deviation is ``stated``, from the prior and from what groups of its
    own ``values`` say (each about its own mean)."""
    own = [(statistics.variance(group), len(group) - 1) for group in values if len(group) > 1]
    degrees = sum(d for _, d in own)
    return blend(prior, stated, sum(v * d for v, d in own) / max(degrees, 1), degrees)


def blend(prior: Prior, stated: float, own: float, degrees: int) -> Spread:
    """The same from a variance of its ``own`` that is worth ``degrees`` degrees of freedom: of none, it is the least
    that the case scatters by.

    A case that scatters more than its prior keeps its own variance: hundreds of quiet kernels must not quieten a noisy
    one. One that scatters less may owe that to chance, and is drawn up.
    """
    usual, total = prior.scale * stated**2, prior.degrees + degrees
    if not degrees or math.isinf(prior.degrees):
        return Spread(max(usual, own), total)
    return Spread(max(own, (prior.degrees * usual + degrees * own) / total), total)


def by_start(values: Mapping[str, float], starts: Mapping[str, str]) -> tuple[float, float, int]:
    """The mean of a case's values by campaign, their variance, and the degrees of freedom that it is worth.

    Campaigns of one start of the machine, which ``starts`` names where it is known, count as one: its cards differ less
    than starts do, so that they say little of those. What those of a single start differ by is a variance worth no
    degrees of freedom: starts differ by at least that. Raises ``ValueError`` for no values.
    """
    if not values:
        raise ValueError("there is no campaign")
    groups: dict[str, list[float]] = {}
    for name, value in values.items():
        groups.setdefault(starts.get(name, name), []).append(value)
    level = statistics.fmean(map(statistics.fmean, groups.values()))
    squares = [statistics.fmean((x - level) ** 2 for x in group) for group in groups.values()]
    degrees = len(groups) - 1
    if not degrees:
        return level, statistics.variance(values.values()) if len(values) > 1 else 0.0, 0
    return level, math.fsum(squares) / degrees, degrees
