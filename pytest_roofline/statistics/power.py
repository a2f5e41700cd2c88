"""What slowdowns a comparison would find, from the noise it knows. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_roofline.statistics.distributions import student_quantile, student_tail
from pytest_roofline.statistics.noise import Prior, Spread, between_pairs, moderate
from pytest_roofline.statistics.paired import LOOKS
from pytest_roofline.statistics.screen import tail_of
from pytest_roofline.statistics.summaries import MINIMAL, alarm

SLOWDOWNS = (0.01, 0.02, 0.03, 0.05)


@dataclass(frozen=True)
class Power:
    """The chance that a comparison calls each of :data:`SLOWDOWNS` a regression, and the one it finds in 99 %."""

    chances: tuple[float, ...]
    detectable: float


def of_screen(own: Spread, times: float, shift: float, suspects: int) -> Power:
    """One more run against stored campaigns, from which it differs by ``times`` a case's own variance. ``shift`` is the
    variance of what all cases have in common, ``suspects`` how many cases may raise a false alarm."""
    return _power(Spread(own.variance * times + shift, own.degrees), tail_of(alarm(suspects)))


def of_pairs(
    seconds: float, prior: Prior, calibrated: Iterable[float], suspects: int, *, power_limited: bool = False
) -> Power:
    """A retest in pairs that goes on to its last look; one that stops earlier has found more."""
    own = moderate(prior, between_pairs(seconds, power_limited=power_limited), [list(calibrated)])
    last = Spread(own.variance / LOOKS[-1], own.degrees + LOOKS[-1] - 1)
    return _power(last, alarm(suspects) / len(LOOKS))


def _power(own: Spread, chance: float) -> Power:
    """A slowdown shows if what is measured, with the same noise, exceeds ``MINIMAL`` by half the interval."""
    error = math.sqrt(own.variance)
    limit = math.log1p(MINIMAL) + student_quantile(chance, own.degrees) * error
    chances = tuple(student_tail((limit - math.log1p(by)) / error, own.degrees) for by in SLOWDOWNS)
    return Power(chances, math.expm1(limit + student_quantile(0.01, own.degrees) * error))
