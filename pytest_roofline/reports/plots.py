"""Roofline, ladder and history of a run as SVG or PNG, for documents and pull requests. Needs Matplotlib (``report``).

The same marks as in the HTML report: a circle is CUDA C++, a square Triton, a hollow diamond a library routine, so that
no colour is needed to tell them apart. Text in an SVG stays text.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_roofline.cache import write_atomically
from pytest_roofline.reports import ReportUnavailableError
from pytest_roofline.reports.series import RunPoint, Series
from pytest_roofline.runs.record import CaseRecord, RunRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png")
_STYLE: dict[str, dict[str, Any]] = {
    "cuda": {"marker": "o", "color": "#0b6bcb"},
    "triton": {"marker": "s", "color": "#c2520a"},
    "library": {"marker": "D", "color": "#69737f", "markerfacecolor": "none"},
    "other": {"marker": "^", "color": "#7a3fb0"},
}
_NAMES = {"cuda": "CUDA C++", "triton": "Triton", "library": "library routine", "other": "other"}
_INK, _GRID = "#191d23", "#dde2e8"


class PlotError(ValueError):
    """There is nothing to draw, or not in that format; the message says what there would be."""


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as the suffix says (``.svg`` or ``.png``). Raises :class:`PlotError` for another one."""
    import matplotlib as mpl

    if path.suffix not in SUFFIXES:
        raise PlotError(f"{path}: a plot is written as {' or '.join(SUFFIXES)}")
    content = io.BytesIO()
    # No date in the file: the same run gives the same bytes.
    metadata = {"Date": None} if path.suffix == ".svg" else None
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "pytest-roofline"}):
        figure.savefig(content, format=path.suffix[1:], dpi=160, metadata=metadata)
    write_atomically(path, content.getvalue())
    return path


def roofline(run: RunRecord, operation: str | None = None, level: str = "device") -> Figure:
    """Operations per second over operations per byte, with the datasheet's and the measured roofs of ``level``.

    Raises :class:`PlotError` where no case has arithmetic and moves bytes through that level.
    """
    placed = [(case, *place) for case in _timed(run, operation) if (place := _place(case, level)) is not None]
    if not placed:
        raise PlotError(f"no timed case{f' of {operation}' if operation else ''} has arithmetic on bytes of {level}")
    with _drawing(9.5, 5.6) as (figure, axes):
        low, high = min(x for _, x, _ in placed) / 2, max(x for _, x, _ in placed) * 2
        _roofs(axes, run, level, [case for case, _, _ in placed], low, high)
        for ladder in _ladders(placed):
            axes.plot([x for _, x, _ in ladder], [y for _, _, y in ladder], color=_INK, alpha=0.25, linewidth=1)
        for case, x, y in placed:
            axes.plot([x], [y], linestyle="", markersize=6, label=_NAMES[_kind(case)], **_STYLE[_kind(case)])
        axes.set(xscale="log", yscale="log", xlabel="arithmetic intensity, operations per byte moved")
        axes.set(ylabel="operations per second", title=f"{operation or 'Roofline'}, {run.device.name}")
        _legend(axes)
    return figure


def ladder(run: RunRecord, operation: str) -> Figure:
    """Share of its roof that each kernel of an operation reaches, on the problem that most of them ran.

    Raises :class:`PlotError` for an operation without a case that has a roof.
    """
    cases = _main_problem([case for case in _timed(run, operation) if case.fraction is not None])
    if not cases:
        raise PlotError(f"no timed case of {operation} has a roof; known are {', '.join(sorted(_operations(run)))}")
    rungs = sorted(cases, key=lambda c: (c.kernel.peer, c.parts.backend, c.kernel.order), reverse=True)
    with _drawing(8.5, 0.42 * len(rungs) + 1.5) as (figure, axes):
        for row, case in enumerate(rungs):
            share = 100 * (case.fraction or 0.0)
            style = _STYLE[_kind(case)]
            hollow = "markerfacecolor" in style
            axes.barh(row, share, height=0.62, color="none" if hollow else style["color"], edgecolor=style["color"])
            axes.text(
                share + 1, row, f"{share:.3g} %, {_time(case.seconds or 0.0)}", va="center", color=_INK, fontsize=9
            )
        axes.set_yticks(range(len(rungs)), [f"{c.parts.backend} {c.parts.variant}" for c in rungs])
        axes.axvline(100, color=_INK, linewidth=1.6)
        parts = rungs[0].parts
        axes.set_xticks(range(0, 101, 20))
        axes.set(
            xlim=(0, 122), xlabel="share of the datasheet's roof, %", title=f"{operation} {parts.dtype}, {parts.shape}"
        )
        axes.grid(False, axis="y")
    return figure


def history(series: Series, case: str) -> Figure:
    """Times of a case over the runs, with the middle of every level and where it changed.

    Raises :class:`PlotError` for a case that no run timed.
    """
    values = series.seconds.get(case, ())
    points = [(place, seconds) for place, seconds in enumerate(values) if seconds is not None]
    if not points:
        raise PlotError(f"no run of this history timed {case}")
    factor, unit = _unit(max(seconds for _, seconds in points))
    with _drawing(9.5, 4.0) as (figure, axes):
        axes.plot(
            [p for p, _ in points], [s / factor for _, s in points], "o-", color="#0b6bcb", markersize=3, linewidth=0.8
        )
        ends = [0, *series.changes.get(case, ()), len(values)]
        for begin, end in itertools.pairwise(ends):
            level = sorted(s for s in values[begin:end] if s is not None)
            if level:
                axes.hlines(level[len(level) // 2] / factor, begin, end - 1, color=_INK, linewidth=1.6)
            if begin:
                axes.axvline(begin - 0.5, color="#b3261e", linestyle="--", linewidth=1.2)
                label = series.runs[begin].commit[:10] or series.runs[begin].started[:10]
                axes.annotate(label, (begin - 0.3, 1), xycoords=("data", "axes fraction"), va="top", fontsize=8)
        places = sorted({0, (len(values) - 1) // 2, len(values) - 1})
        axes.set_xticks(places, [_when(series.runs[place]) for place in places])
        axes.set(ylabel=f"time, {unit}", title=case)
    return figure


@contextmanager
def _drawing(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """A figure that touches neither a display nor what else in the process draws with Matplotlib."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError as error:
        raise ReportUnavailableError(
            "plots need Matplotlib: pip install 'pytest-roofline[report]' brings it"
        ) from error
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {"font.size": 10, "axes.titleweight": "bold", "axes.titlelocation": "left"}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.grid(True, color=_GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        yield figure, axes


def _roofs(axes: Axes, run: RunRecord, level: str, cases: Sequence[CaseRecord], low: float, high: float) -> None:
    used = {name for case in cases for name, count in case.operations.items() if count}
    peaks = {name: rate for name, rate in run.device.peaks.items() if name in used}
    top, bandwidth = max(peaks.values(), default=math.inf), run.device.bandwidths.get(level)
    if bandwidth is None:
        return
    memory = {"datasheet": bandwidth}
    if level == "device" and run.ceilings is not None:
        memory |= {"copy, measured": run.ceilings.copy, "read, measured": run.ceilings.read}
    high = max(high, 3 * top / bandwidth) if peaks else high
    for name, rate in memory.items():
        style = "-" if name == "datasheet" else "--" if name.startswith("copy") else ":"
        end = min(high, top / rate)
        label = f"{_tera(rate)} TB/s {name}"
        axes.plot([low, end], [low * rate, end * rate], color=_INK, linestyle=style, linewidth=1.4, label=label)
    for rate, names in _together(peaks):
        derived = all(run.device.sources.get(name, "").startswith("derived") for name in names)
        style = ":" if derived else "-"  # what follows from the clock is no datasheet's figure
        axes.plot([rate / bandwidth, high], [rate, rate], color=_INK, linestyle=style, linewidth=1.4)
        floating = not any(word in name for name in names for word in ("int", "special"))
        axes.annotate(
            f"{', '.join(names)} {_tera(rate)} T{'FLOP' if floating else 'op'}/s{' derived' if derived else ''}",
            (high, rate),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            annotation_clip=False,
        )
    axes.set_xlim(low, high)


def _together(peaks: Mapping[str, float]) -> list[tuple[float, list[str]]]:
    """Pipelines by rate, those whose labels would cover each other in one."""
    found: list[tuple[float, list[str]]] = []
    for name, rate in sorted(peaks.items(), key=lambda item: -item[1]):
        if found and found[-1][0] < 1.2 * rate:
            found[-1][1].append(name)
        else:
            found.append((rate, [name]))
    return found


def _place(case: CaseRecord, level: str) -> tuple[float, float] | None:
    """Intensity and rate of a case: operations over the most bytes that it moves through ``level``."""
    moved = [t.read + t.write for t in (*case.traffic, *case.model) if t.level == level]
    operations = sum(case.operations.values())
    if not moved or not max(moved) or not operations or case.seconds is None or case.regime == "overhead":
        return None
    return operations / max(moved), operations / case.seconds


def _ladders(placed: Sequence[tuple[CaseRecord, float, float]]) -> list[list[tuple[CaseRecord, float, float]]]:
    groups: dict[tuple[str, str, str, str], list[tuple[CaseRecord, float, float]]] = {}
    for entry in placed:
        parts = entry[0].parts
        if not entry[0].kernel.peer:
            groups.setdefault((parts.operation, parts.backend, parts.dtype, str(parts.shape)), []).append(entry)
    return [sorted(group, key=lambda e: e[0].kernel.order) for group in groups.values() if len(group) > 1]


def _main_problem(cases: Sequence[CaseRecord]) -> list[CaseRecord]:
    groups: dict[tuple[str, str], list[CaseRecord]] = {}
    for case in cases:
        groups.setdefault((case.parts.dtype, str(case.parts.shape)), []).append(case)
    return max(groups.values(), key=lambda g: (len(g), math.prod(g[0].dims)), default=[])


def _timed(run: RunRecord, operation: str | None) -> list[CaseRecord]:
    return [c for c in run.cases if c.seconds is not None and operation in (None, c.parts.operation)]


def _operations(run: RunRecord) -> set[str]:
    return {case.parts.operation for case in run.cases}


def _kind(case: CaseRecord) -> str:
    backend = case.parts.backend
    return "library" if case.kernel.peer else backend if backend in _STYLE else "other"


def _legend(axes: Axes) -> None:
    """One entry per kind of mark, however many marks there are."""
    entries: dict[str, Any] = {}
    for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
        entries.setdefault(label, handle)
    axes.legend(entries.values(), entries.keys(), loc="lower right", frameon=False)


def _when(run: RunPoint) -> str:
    """Minute and commit: runs of one day have the same date."""
    return f"{run.started[:16].replace('T', ' ')}\n{run.commit[:10]}".rstrip()


def _tera(rate: float) -> str:
    """Three digits, or all before the point; 494.5 is 495, as in the HTML report."""
    rate /= 1e12
    return f"{math.floor(rate + 0.5)}" if rate >= 100 else f"{rate:.3g}"


def _unit(seconds: float) -> tuple[float, str]:
    return next(
        ((size, unit) for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")) if seconds >= size), (1e-9, "ns")
    )


def _time(seconds: float) -> str:
    factor, unit = _unit(seconds)
    return f"{seconds / factor:.3g} {unit}"
