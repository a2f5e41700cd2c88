"""Numbers as people read them: few digits, the unit beside them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_roofline.runs.record import CaseRecord, Comparison

_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Unit:
    """A unit and its size in base units."""

    name: str
    size: float

    def number(self, value: float, digits: int) -> str:
        """``value``, given in base units, with that many significant digits."""
        return _digits(value / self.size, digits)


SECONDS = (Unit("s", 1.0), Unit("ms", 1e-3), Unit("us", 1e-6), Unit("ns", 1e-9))
BANDWIDTHS = (Unit("TB/s", 1e12), Unit("GB/s", 1e9))
OPERATIONS = (Unit("TFLOP/s", 1e12), Unit("GFLOP/s", 1e9))


def fitting(units: Sequence[Unit], value: float) -> Unit:
    """The largest unit that ``value`` is at least one of, else the smallest."""
    return next((unit for unit in units if value >= unit.size), units[-1])


def time(seconds: float) -> str:
    """Four significant digits with their unit: ``48.61 us``."""
    unit = fitting(SECONDS, seconds)
    return f"{unit.number(seconds, 4)} {unit.name}"


def rate_of(case: CaseRecord) -> tuple[float, Sequence[Unit]] | None:
    """The rate of what the case is about, and the units for it; ``None`` for one not timed or that moves nothing.

    That is arithmetic where a pipeline limits, or a memory level that its own traffic does not name: there bytes of
    device memory would say nothing. Else it is the bytes of its traffic.
    """
    bound = case.bounds.get("algorithm") or case.bounds.get("ceiling")
    elsewhere = bound is not None and bound.by not in {traffic.level for traffic in case.traffic}
    if elsewhere and case.operations_per_second:
        return case.operations_per_second, OPERATIONS
    return (case.bytes_per_second, BANDWIDTHS) if case.bytes_per_second else None


def rate(case: CaseRecord) -> str:
    """The same with three significant digits and their unit: ``3.89 TB/s``; ``-`` for none."""
    found = rate_of(case)
    if found is None:
        return "-"
    unit = fitting(found[1], found[0])
    return f"{unit.number(found[0], 3)} {unit.name}"


def ratio(value: float | None) -> str:
    """A ratio with three significant digits, at least two of them decimals below ten: ``1.04``; ``-`` for none."""
    if value is None:
        return "-"
    return f"{value:.1g}" if value < 0.01 else f"{value:.2f}" if value < 10 else _digits(value, 3)


def share(fraction: float | None) -> str:
    """A fraction in percent, whole from ten on; ``-`` for none."""
    if fraction is not None and 0 < fraction < 0.0005:
        return "<0.1%"
    return "-" if fraction is None else f"{100 * fraction:.{0 if fraction >= 0.0995 else 1}f}%"


def bar(fraction: float | None, width: int, plain: bool = False) -> str:
    """A bar of ``width`` columns, in eighths of a column, or of ``#`` where ``plain``; beyond 1 it is full."""
    filled = min(max(fraction or 0.0, 0.0), 1.0) * width
    if plain:
        return ("#" * round(filled)).ljust(width, ".")
    whole = int(filled)
    part = _EIGHTHS[round((filled - whole) * 8)] if whole < width else ""
    return ("█" * whole + part.strip()).ljust(width)


def delta(comparison: Comparison | None, plain: bool = False) -> str:
    """New over old time with half its interval, ``+1.2±0.8%``; empty without a comparison. Positive is slower."""
    if comparison is None or comparison.ratio is None or comparison.low is None or comparison.high is None:
        return ""
    half = (comparison.high - comparison.low) / 2
    sign = "+-" if plain else "±"
    return f"{100 * (comparison.ratio - 1):+.1f}{sign}{100 * half:.1f}%"


def interval(comparison: Comparison) -> str:
    """The same in full: ``+1.2 % (+0.4 to +2.0)``; empty without a comparison."""
    if comparison.ratio is None or comparison.low is None or comparison.high is None:
        return ""
    ratio, low, high = (100 * (x - 1) for x in (comparison.ratio, comparison.low, comparison.high))
    return f"{ratio:+.1f} % ({low:+.1f} to {high:+.1f})"


def _digits(value: float, digits: int) -> str:
    """That many significant digits without losing zeros; what is far below one keeps two."""
    if 0 < value < 0.1:
        return f"{value:.2g}"
    before = len(str(int(value))) if value >= 1 else 1
    return f"{value:.{max(digits - before, 0)}f}"
