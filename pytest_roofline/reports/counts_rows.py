"""Rows of cases that were counted, not timed: what their kernels do to memory and need of an SM. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_roofline.reports.ranking import severity, word
from pytest_roofline.reports.styled import FAINT, Line, Segment, cut, line, of_severity
from pytest_roofline.runs.figures import figures
from pytest_roofline.runs.record import CaseRecord

COLUMNS = {
    "launches": ("launches", 8),
    "sectors": ("sectors", 9),
    "conflicts": ("conflicts", 9),
    "registers": ("regs", 4),
    "spills": ("spill", 5),
    "occupancy": ("occ", 4),
}
"""Figures that are listed: their heading and its width."""


def table(problem: str, cases: Sequence[CaseRecord], name: int) -> list[Line]:
    """The heading of a problem and a row per case; names are ``name`` columns wide."""
    head = " ".join(f"{title:>{width}}" for title, width in COLUMNS.values())
    lines = [line(f"  {cut(problem, name + 2):{name + 2}} ", Segment(f"{head}  verdict", FAINT))]
    return [*lines, *(_row(case, name) for case in cases)]


def cells(case: CaseRecord) -> list[str]:
    """The figures of a case as text in the order of :data:`COLUMNS`; ``-`` where one is not known."""
    known = figures(case.counted)
    return [_text(figure, known.get(figure)) for figure in COLUMNS]


def _row(case: CaseRecord, name: int) -> Line:
    widths = [width for _, width in COLUMNS.values()]
    found = " ".join(f"{cell:>{width}}" for cell, width in zip(cells(case), widths, strict=True))
    label = cut("/".join(case.id.split("/")[1:3]), name)
    return line(f"    {label:{name}} {found}  ", Segment(word(case), of_severity(severity(case), word(case))))


def _text(figure: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.0f}%" if figure == "occupancy" else f"{value:.0f}"
