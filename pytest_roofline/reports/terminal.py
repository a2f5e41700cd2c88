"""The terminal's section: a compact table per operation, the worst first, readable at 80 columns. Pure.

Rows stand below their problem (dtype and shape), because kernels compete on one problem and names are long; the line of
the problem names the units of its columns.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_roofline.reports import counts_rows, units
from pytest_roofline.reports.ranking import FAILED, FINE, ORDER, distance, severity, word, worst_first
from pytest_roofline.reports.styled import (
    BAD,
    DOUBTFUL,
    FAINT,
    GOOD,
    HEAD,
    PLAIN,
    Line,
    Segment,
    cut,
    line,
    of_severity,
    text,
)
from pytest_roofline.reports.units import Unit
from pytest_roofline.runs.record import COUNTED, CaseRecord, RunRecord
from pytest_roofline.verdict import FIRM

SHOWN = 4
"""How many cases of an operation are listed without ``-v``, unless more fail."""
WIDTH = 80
_BESIDE_NAME = 60  # columns of everything but the name
_BAR = 4
_FAR, _NEAR = 0.5, 0.8  # of the bound: where the colour of the bar changes; the figure beside it says the same


@dataclass(frozen=True)
class _Columns:
    """How wide the name is, the units of one problem, and whether to keep to ASCII."""

    name: int
    time: Unit
    rate: Unit
    plain: bool


def totals(run: RunRecord) -> list[Line]:
    """How many cases have which verdict, the worst first."""
    counted = Counter((severity(case), word(case)) for case in run.cases)
    ranked = sorted(counted.items(), key=lambda one: (ORDER.index(one[0][0]), -one[1], one[0][1]))
    lines: list[list[Segment]] = [[Segment(f"{len(run.cases)} cases {run.kind}: ")]]
    for place, ((how_bad, name), number) in enumerate(ranked, 1):
        end = "" if place == len(ranked) else ", "
        if len(text(line(*lines[-1]))) + len(f" {number} {name}{end}") > WIDTH:
            lines.append([Segment("  ")])
        lines[-1] += [Segment(f"{number} {name}", of_severity(how_bad, name)), Segment(end)]
    found = [line(*parts) for parts in lines]
    if run.ended is None:
        found.append(line(Segment("the run did not end: these are the cases that it had finished", BAD)))
    return found


def section(run: RunRecord, *, verbose: bool = False, width: int = WIDTH, plain: bool = False) -> list[Line]:
    """A table per operation, the one with the worst case first; ``plain`` keeps to ASCII.

    All that fails is listed and explained. Where that are fewer than :data:`SHOWN`, warnings fill the rows, then the
    best kernels furthest from the roof. ``verbose`` lists all.
    """
    by_operation: dict[str, list[CaseRecord]] = {}
    for case in worst_first(run.cases):
        by_operation.setdefault(case.problem[0], []).append(case)
    lines: list[Line] = []
    for name, cases in by_operation.items():
        lines += [line(), *_operation(run, name, cases, verbose, max(width, WIDTH), plain)]
    return lines


def footnotes(run: RunRecord) -> list[Line]:
    """What columns and marks mean, as far as they occur."""
    timed = [case for case in run.cases if case.times is not None]
    lines = []
    if timed:
        lines.append("of bound: least time by the datasheet for what this kernel moves and computes /")
        lines.append("  its time; peer: time of the fastest library routine / its time")
    if any(case.verdict is not None and case.verdict.ratio is not None for case in run.cases):
        lines.append("after the verdict: against the baseline, with half its interval; + is slower")
    if any(case.times is not None and case.times.source == "cupti" for case in run.cases):
        lines.append("*: kernel time by CUPTI (brackets below 20 us have gaps; verdicts use brackets)")
    if any(map(_provisional, run.cases)):
        lines.append(f"~: provisional, the baseline has fewer than {FIRM} campaigns")
    if any(case.regime == "overhead" for case in timed):
        lines.append("ovh: overhead-bound, the roof is below the time of an empty launch")
    return [line(Segment(text, FAINT)) for text in lines]


def _operation(
    run: RunRecord, name: str, cases: Sequence[CaseRecord], verbose: bool, width: int, plain: bool
) -> list[Line]:
    shown = cases if verbose else _compact(cases)
    facts = run.operations.get(name)
    lines = [line(Segment(cut(f"{name}: {facts.summary}" if facts else name, width), HEAD))]
    by_problem: dict[tuple[str, str, str], list[CaseRecord]] = {}
    for case in shown:
        by_problem.setdefault(case.problem, []).append(case)
    for (_, dtype, shape), rows in by_problem.items():
        if run.kind == COUNTED:
            lines += counts_rows.table(f"{dtype} {shape}", rows, width - _BESIDE_NAME)
            continue
        columns = _columns(rows, width - _BESIDE_NAME, plain)
        lines += _heading(f"{dtype} {shape}", columns)
        lines += [_row(case, run.peer_ratio(case), columns) for case in rows]
    if len(shown) < len(cases):
        told = Counter(map(word, cases[len(shown) :])).most_common()
        more = ", ".join(f"{number} {name}" for name, number in told)
        lines.append(line(Segment(f"  and {more} (-v lists them)", FAINT)))
    return [*lines, *(told for case in shown if verbose or _needs_words(case) for told in _sentence(case, width))]


def _needs_words(case: CaseRecord) -> bool:
    """Whether its row does not say enough: of an unresolved case it has the change and its interval."""
    return severity(case) != FINE and word(case) != "unresolved"


def _compact(cases: Sequence[CaseRecord]) -> Sequence[CaseRecord]:
    """The cases are sorted: failures first, then warnings."""
    return cases[: max(sum(severity(case) == FAILED for case in cases), SHOWN)]


def _columns(rows: Sequence[CaseRecord], name: int, plain: bool) -> _Columns:
    times = [case.times.seconds for case in rows if case.times is not None]
    rates = [found for case in rows if (found := units.rate_of(case)) is not None]
    time = units.fitting(units.SECONDS, min(times, default=1e-6))
    fastest = max(rates, key=lambda found: found[0], default=(1e12, units.BANDWIDTHS))
    return _Columns(name, time, units.fitting(fastest[1], fastest[0]), plain)


def _heading(problem: str, columns: _Columns) -> list[Line]:
    """The problem and the columns; on two lines where the problem's name is long, which tells sizes apart."""
    head = f"{columns.time.name:>7} {columns.rate.name:>7} {'of bound':>9} {'peer':>5}  verdict"
    room = columns.name + 2
    if len(problem) > room:
        return [line(f"  {problem}"), line(" " * (room + 3), Segment(head, FAINT))]
    return [line(f"  {problem:{room}} ", Segment(head, FAINT))]


def _row(case: CaseRecord, peer: float | None, columns: _Columns) -> Line:
    name = cut("/".join(case.id.split("/")[1:3]), columns.name)
    rate = units.rate_of(case)
    rate_text = "-" if rate is None else columns.rate.number(rate[0], 3)
    fraction = distance(case)
    share = "ovh" if case.regime == "overhead" else units.share(fraction)
    bar = " " * _BAR if fraction is None else units.bar(fraction, _BAR, columns.plain)
    verdict = f"{word(case)} {units.delta(case.verdict, columns.plain)}" if not case.kernel.peer else word(case)
    return line(
        f"    {name:{columns.name}} {_time(case, columns.time):>7} {rate_text:>7} ",
        Segment(bar, _bar_style(fraction)),
        f"{share:>5} {units.ratio(peer):>5} {'~' if _provisional(case) else ' '}",
        Segment(verdict.rstrip(), of_severity(severity(case), word(case))),
    )


def _time(case: CaseRecord, unit: Unit) -> str:
    if case.times is None:
        return "- "
    return unit.number(case.times.seconds, 4) + ("*" if case.times.source == "cupti" else " ")


def _bar_style(fraction: float | None) -> str:
    if fraction is None:
        return PLAIN
    return BAD if fraction < _FAR else DOUBTFUL if fraction < _NEAR else GOOD


def _provisional(case: CaseRecord) -> bool:
    return case.verdict is not None and 0 < case.verdict.campaigns < FIRM and not case.kernel.peer


def _sentence(case: CaseRecord, width: int) -> list[Line]:
    """What a verdict says, or how the check failed; below the id where one line is too short for both."""
    style = of_severity(severity(case), word(case))
    head: list[str | Segment] = ["  ", Segment(word(case), style), f": {case.id}"]
    if not case.said:
        return [line(*head)]
    if len(f"  {word(case)}: {case.id}: {case.said}") <= width:
        return [line(*head, f": {case.said}")]
    return [line(*head, ":"), *(line("    ", part) for part in textwrap.wrap(case.said, width - 4))]
