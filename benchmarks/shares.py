"""Shares and counts with the intervals that hold the true ones. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Share:
    """So many of so many, with the interval that holds the true share in 95 % of cases."""

    hits: int = 0
    of: int = 0

    def add(self, hit: bool) -> None:
        """One more."""
        self.hits += hit
        self.of += 1

    def __str__(self) -> str:
        if not self.of:
            return "none"
        low, high = interval(self.hits, self.of)
        return f"{self.hits} of {self.of} = {100 * self.hits / self.of:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def interval(hits: int, of: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a share (1934), by bisection on the binomial tail."""

    def tail(share: float, least: int) -> float:
        if share <= 0 or share >= 1:
            return float(share >= 1 or least <= 0)
        logs = [
            math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1)
            + k * math.log(share) + (of - k) * math.log1p(-share)
            for k in range(least, of + 1)
        ]  # fmt: skip
        return math.fsum(map(math.exp, logs))

    lower = _solve(lambda share: tail(share, hits) > 0.025, 1.0) if hits else 0.0
    upper = _solve(lambda share: 1 - tail(share, hits + 1) < 0.025, 1.0) if hits < of else 1.0
    return lower, upper


def count_limit(count: int, chance: float = 0.05) -> float:
    """The largest mean for which a Poisson variable comes out as ``count`` or less with at least that chance."""

    def likely(mean: float) -> bool:
        terms = (math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(count + 1))
        return math.fsum(terms) < chance

    return _solve(likely, 20.0 + 5 * count)


def _solve(beyond: Callable[[float], bool], high: float) -> float:
    """Where ``beyond`` becomes true between 0 and ``high``."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return (low + high) / 2
