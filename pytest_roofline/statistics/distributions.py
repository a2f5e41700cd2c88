"""Quantiles of Student's t for any degrees of freedom, and the two derivatives of ln(gamma) that variances need. Pure.

The incomplete beta function is evaluated by its continued fraction (DLMF 8.17.22), digamma and trigamma by recurrence
and asymptotic series (DLMF 5.5.2, 5.11.2, 5.15.8).
"""

from __future__ import annotations

import functools
import math

_TINY = 1e-300
_ENOUGH = 3e-16
_ASYMPTOTIC = 12.0  # from here on the series below are exact to double precision


@functools.lru_cache(maxsize=4096)
def student_quantile(tail: float, degrees: float) -> float:
    """The t that a Student variable of ``degrees`` degrees of freedom (may be infinite) exceeds with probability
    ``tail``, in (0, 0.5]. Raises ``ValueError`` outside."""
    if not 0 < tail <= 0.5 or not degrees > 0:
        raise ValueError(f"no quantile for a tail of {tail} and {degrees} degrees of freedom")
    low, high = 0.0, 1.0
    while student_tail(high, degrees) > tail:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, degrees) > tail else (low, middle)
    return (low + high) / 2


def student_tail(t: float, degrees: float) -> float:
    """The probability that a Student variable exceeds ``t``; normal for infinite ``degrees``."""
    if t < 0:
        return 1 - student_tail(-t, degrees)
    if math.isinf(degrees):
        return math.erfc(t / math.sqrt(2)) / 2
    return _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2


def digamma(x: float) -> float:
    """The derivative of ln(gamma) for ``x`` > 0."""
    total = 0.0
    while x < _ASYMPTOTIC:
        total -= 1 / x
        x += 1
    inverse = 1 / (x * x)
    series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132))))
    return total + math.log(x) - 0.5 / x - series


def trigamma(x: float) -> float:
    """The second derivative of ln(gamma) for ``x`` > 0."""
    total = 0.0
    while x < _ASYMPTOTIC:
        total += 1 / (x * x)
        x += 1
    inverse = 1 / (x * x)
    series = inverse * (1 / 6 - inverse * (1 / 30 - inverse * (1 / 42 - inverse * (1 / 30 - inverse * 5 / 66))))
    return total + 1 / x + inverse / 2 + series / x


def trigamma_inverse(y: float) -> float:
    """The ``x`` whose trigamma is ``y`` > 0: bisection on its logarithm, since trigamma falls from infinity to 0."""
    low, high = -40.0, 40.0
    while high - low > 1e-13 * max(1.0, abs(high)):
        middle = (low + high) / 2
        low, high = (middle, high) if trigamma(math.exp(middle)) > y else (low, middle)
    return math.exp((low + high) / 2)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(front) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction, from the front (modified Lentz)."""
    c, d = 1.0, 1 / _nonzero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _nonzero(1 + term * d)
            c = _nonzero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _ENOUGH:
            break
    return value


def _nonzero(x: float) -> float:
    return x if abs(x) > _TINY else _TINY
