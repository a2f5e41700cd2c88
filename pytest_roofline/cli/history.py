"""``pytest-roofline history``: runs over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from pytest_roofline.cli import FAILED, OK, UNUSABLE, console, sources
from pytest_roofline.history import HistoryError, bisect, changes, plot, queries
from pytest_roofline.history.queries import SECONDS, Point, RunLine
from pytest_roofline.history.store import Store
from pytest_roofline.reports import units
from pytest_roofline.reports.styled import BAD, FAINT, GOOD, Line, Segment, line
from pytest_roofline.runs.figures import NAMES

app = typer.Typer(help="Runs over time: plots, change points, bisection.", no_args_is_help=True)

Where = Annotated[
    str,
    typer.Option("--store", envvar="PYTEST_ROOFLINE_HISTORY", help="folder or URL of the history (s3://bucket/path)"),
]
Device = Annotated[str | None, typer.Option("--device", help="only this device (h200, a100)")]
Figure = Annotated[str, typer.Option("--figure", help=f"seconds, or a counted figure: {', '.join(NAMES)}")]
DEFAULT_STORE = ".roofline/history"


@app.command()
def ingest(
    files: Annotated[list[Path], typer.Argument(help="run files, pytest-benchmark's files, or folders of them")],
    store: Where = DEFAULT_STORE,
) -> None:
    """Add runs; may be repeated, and several may do it at once: a run that is there already stays as it is.

    Files that are no runs are named at the end, and end with 4; the others are added all the same.
    """
    paths = sources.run_files(files)
    found = Store(store).add(_texts(paths))
    console.show([f"added {len(found.added)} runs, {len(found.there)} were there already"])
    for problem in found.refused:
        console.complain(problem)
    if found.refused:
        raise typer.Exit(UNUSABLE)


@app.command("list")
def list_runs(
    store: Where = DEFAULT_STORE,
    device: Device = None,
    branch: Annotated[str | None, typer.Option(help="only this branch")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="so many, the newest first")] = 20,
    cases: Annotated[str | None, typer.Option(help="list cases instead whose id contains this")] = None,
) -> None:
    """List runs, or the cases that there are."""
    opened = Store(store)
    if cases is not None:
        known = queries.cases(opened, cases, device)
        if not known:
            raise HistoryError(f"the history has no case whose id contains {cases!r}")
        console.show(f"{key:12} {number:6} runs  {name}" for key, name, number in known)
        return
    found = queries.runs(opened, device, branch, limit)
    if not found:
        wanted = [f"{name} {value}" for name, value in (("device", device), ("branch", branch)) if value is not None]
        raise HistoryError(f"the history has no runs of {' and '.join(wanted)}")
    console.show([f"{'started':20} {'commit':12} {'device':12} {'cases':>5} {'fail':>4}  run"])
    console.show(map(_run_line, found))


@app.command()
def show(
    case: Annotated[str, typer.Argument(help="id of a case")],
    store: Where = DEFAULT_STORE,
    device: Device = None,
    figure: Figure = SECONDS,
    by_commit: Annotated[
        bool, typer.Option("--by-commit", help="one point per commit: the median of its runs")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="so many lines below the plot")] = 20,
) -> None:
    """Plot a case over its runs and list the latest, with the points where its level changed."""
    points = queries.series(Store(store), case, device, figure)
    if by_commit:
        points = queries.by_commit(points)
    unit = _unit(points, figure)
    found = _change_points(points, figure)
    steps = [(change.at, change.ratio) for change in found]
    values = [point.value for point in points]
    name, plain = f"{unit.name or figure}", console.is_ascii()
    console.show(plot.plot(values, steps, name, scale=unit.size, width=console.width(), plain=plain))
    console.show([f"{len(points)} {'commits' if by_commit else 'runs'} of {case}", *map(_change_line, found)])
    marked = {change.at for change in found}
    first = max(len(points) - limit, 0)
    console.show(_point_line(point, unit, at in marked) for at, point in enumerate(points) if at >= first)


@app.command("changes")
def list_changes(
    store: Where = DEFAULT_STORE,
    device: Annotated[str, typer.Option("--device", help="the device")] = "h200",
    cases: Annotated[str, typer.Option(help="only cases whose id contains this")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="look at so many runs, the latest")] = 200,
    fail: Annotated[bool, typer.Option("--fail", help="end with 1 if the latest level of any case is slower")] = False,
) -> None:
    """List where the level of any case changed, the largest change first."""
    found = queries.table(Store(store), device, limit=limit)
    steps = []
    for case, values in found.seconds.items():
        there = [place for place, value in enumerate(values) if value is not None]
        known = [value for value in values if value is not None]
        levels = changes.levels_of_times(known) if cases in case else []
        steps += [(case, there[at - 1], there[at], ratio, at == levels[-1][0]) for at, ratio in levels]
    steps.sort(key=lambda step: -abs(step[3] - 1))
    for case, before, at, ratio, _ in steps:
        old, new = found.runs[before], found.runs[at]
        note = f" ({new.note})" if new.note else ""
        told = Segment(f"{100 * (ratio - 1):+6.1f} %", BAD if ratio > 1 else GOOD)
        console.show([line(told, f"  {case}  {old.commit[:12] or old.id} -> {new.commit[:12] or new.id}{note}")])
    console.show([f"{len(steps)} changes in {len(found.runs)} runs of {len(found.seconds)} cases"])
    if fail and any(ratio > 1 and latest for *_, ratio, latest in steps):
        raise typer.Exit(FAILED)


@app.command("bisect", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bisect_commits(
    context: typer.Context,
    case: Annotated[str, typer.Argument(help="id of a case")],
    good: Annotated[str, typer.Argument(help="the older commit, at which it was good")],
    bad: Annotated[str, typer.Argument(help="the newer commit, at which it is bad")],
    figure: Figure = SECONDS,
    paths: Annotated[list[str] | None, typer.Option("--path", help="only commits that touch this (repeatable)")] = None,
) -> None:
    """Find the first bad commit between two, each measured anew in a worktree of its own.

    After -- comes another command than pytest's, with {case} and {file} in it.
    """
    probe = _probe(case, figure, context)
    found = bisect.find(Path.cwd(), good, bad, probe, tuple(paths or ()))
    values = (found.threshold.good, found.threshold.bad)
    ends = [units.time(value) if figure == SECONDS else f"{value:g}" for value in values]
    console.show([f"first bad commit: {found.commit}", f"  {found.subject}", f"  {figure} {ends[0]} -> {ends[1]}"])


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def step(
    context: typer.Context,
    case: Annotated[str, typer.Argument(help="id of a case")],
    good_value: Annotated[float, typer.Option(help="the figure at the good commit")],
    bad_value: Annotated[float, typer.Option(help="the figure at the bad commit")],
    figure: Figure = SECONDS,
) -> None:
    """One step of git bisect run: measure here; ends with 0 (good), 1 (bad) or 125 (cannot be tested)."""
    probe = _probe(case, figure, context)
    threshold = bisect.Threshold(good_value, bad_value)
    try:
        value = probe.measure(Path.cwd())
    except bisect.UntestableError as error:
        console.complain(str(error))
        raise typer.Exit(bisect.SKIP) from error
    code = threshold.code(value)
    console.show([f"{case}: {figure} {value:g}, {'bad' if code else 'good'}"])
    raise typer.Exit(code)


@app.command()
def pack(store: Where = DEFAULT_STORE) -> None:
    """Write all single files of the store into one, which answers faster. Ingesting does so from time to time."""
    written = Store(store).pack(all_loose=True)
    console.show([f"wrote {len(written)} packs"])
    raise typer.Exit(OK)


def _texts(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    for path in paths:
        try:
            yield str(path), path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise HistoryError(f"{path} cannot be read: {error}") from error


def _probe(case: str, figure: str, context: typer.Context) -> bisect.Probe:
    if figure not in (SECONDS, *NAMES):  # before minutes of measuring
        raise typer.BadParameter(f"there is no {figure}: choose {SECONDS} or {', '.join(NAMES)}", param_hint="--figure")
    return bisect.Probe(case, figure, tuple(context.args) or bisect.DEFAULT_COMMAND)


def _change_points(points: Sequence[Point], figure: str) -> list[changes.ChangePoint]:
    """The runs can be looked at without the package that finds changes."""
    try:
        return changes.change_points(points, times=figure == SECONDS)
    except HistoryError as error:
        console.complain(f"changes of level are not marked: {error}")
        return []


def _unit(points: Sequence[Point], figure: str) -> units.Unit:
    if figure != SECONDS:
        return units.Unit("", 1.0)
    return units.fitting(units.SECONDS, min(point.value for point in points))


def _run_line(run: RunLine) -> Line:
    commit = run.commit[:11] + ("+" if run.dirty else "") or "-"
    failing = Segment(f"{run.failing:>4}", BAD if run.failing else "")
    return line(f"{run.started:20} {commit:12} {run.device:12} {run.cases:>5} ", failing, f"  {run.run}")


def _change_line(change: changes.ChangePoint) -> Line:
    told = Segment(f"{100 * (change.ratio - 1):+.1f} %", BAD if change.ratio > 1 else GOOD)
    also = f"; also changed: {'; '.join(change.also)}" if change.also else ""
    ends = [point.commit[:12] or point.run for point in (change.before, change.after)]
    return line("change of ", told, f" from {ends[0]} to {ends[1]} at {change.after.started}{also}")


def _point_line(point: Point, unit: units.Unit, changed: bool) -> Line:
    value = unit.number(point.value, 4)
    spread = ""
    if point.low is not None and point.high is not None:
        spread = f" ({unit.number(point.low, 4)} to {unit.number(point.high, 4)})"
    commit = (point.commit[:11] + ("+" if point.dirty else "")) or point.run
    mark = " <- change" if changed else ""
    return line(f"  {point.started} {commit:12} {value} {unit.name}{spread} {point.verdict}", Segment(mark, FAINT))
