"""A case over its runs in the terminal: a column per run or per group of runs, a mark where the level changed. Pure."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence

from pytest_roofline.reports.styled import BAD, FAINT, GOOD, Line, Segment, line

_LABEL = 10  # columns of the axis
_MARGIN = 0.05  # of the range, above and below


def plot(
    values: Sequence[float],
    changes: Sequence[tuple[int, float]],
    label: str,
    *,
    scale: float = 1.0,
    width: int = 80,
    height: int = 12,
    plain: bool = False,
) -> list[Line]:
    """``values`` in their order, divided by ``scale`` on the axis, whose unit is ``label``.

    Where there are more values than columns, a column shows the median of its group. ``changes`` are (index, new over
    old level): slower ones are marked ``^``, faster ones ``v``, below the plot.
    """
    columns = max(width - _LABEL - 2, 1)
    groups = _grouped(len(values), columns)
    shown = [statistics.median(values[a:b]) for a, b in groups]
    low, high = min(shown), max(shown)
    margin = (high - low) * _MARGIN or abs(high) * _MARGIN or 1.0
    low, high = low - margin, high + margin
    rows = [round((height - 1) * (high - value) / (high - low)) for value in shown]
    dot, axis = ("*", "|") if plain else ("●", "│")
    lines = [line(Segment(f"{label:>{_LABEL}}", FAINT))]
    for row in range(height):
        value = high - (high - low) * row / (height - 1)
        tick = f"{value / scale:>{_LABEL}.4g}" if row in (0, height // 2, height - 1) else " " * _LABEL
        lines.append(line(Segment(f"{tick} {axis}", FAINT), "".join(dot if r == row else " " for r in rows)))
    return [*lines, _marks(changes, groups)] if changes else lines


def _grouped(count: int, columns: int) -> list[tuple[int, int]]:
    """Index ranges of so many columns at most."""
    used = min(count, columns)
    edges = [round(place * count / used) for place in range(used + 1)]
    return list(itertools.pairwise(edges))


def _marks(changes: Sequence[tuple[int, float]], groups: Sequence[tuple[int, int]]) -> Line:
    marks: list[str | Segment] = [" " * (_LABEL + 2)]
    by_column = {next(c for c, (a, b) in enumerate(groups) if a <= at < b): ratio for at, ratio in changes}
    for column in range(len(groups)):
        ratio = by_column.get(column)
        marks.append(" " if ratio is None else Segment("^", BAD) if ratio > 1 else Segment("v", GOOD))
    return line(*marks)
