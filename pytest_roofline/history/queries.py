"""What is asked of a history: which runs there are, and how a case went over them."""

from __future__ import annotations

import difflib
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_roofline.history import HistoryError
from pytest_roofline.history.store import Store
from pytest_roofline.reports.series import RunPoint, Series
from pytest_roofline.runs.figures import NAMES as FIGURES
from pytest_roofline.verdict import FAILING

SECONDS = "seconds"
_NEAR = 4  # cases named in a message


@dataclass(frozen=True)
class RunLine:
    """One run in a list. ``failing`` counts verdicts that fail a run, and failed checks."""

    run: str
    started: str
    commit: str
    branch: str
    dirty: bool
    device: str
    kind: str
    source: str
    cases: int
    failing: int


@dataclass(frozen=True)
class Point:
    """One case in one run: ``value`` is its time in seconds or a counted figure, ``low`` and ``high`` the quartiles of
    its samples where it has any."""

    run: str
    started: str
    commit: str
    dirty: bool
    machine: str
    driver: str
    toolchain: str
    value: float
    low: float | None
    high: float | None
    verdict: str


def runs(store: Store, device: str | None = None, branch: str | None = None, limit: int = 20) -> list[RunLine]:
    """The latest runs, the newest first."""
    failing = ", ".join(f"'{kind.value}'" for kind in sorted(FAILING, key=lambda k: k.value))
    sql = f"""
        SELECT run, strftime(any_value(started), '%Y-%m-%dT%H:%M:%SZ'), any_value("commit"), any_value(branch),
               any_value(dirty), any_value(device), any_value(kind), any_value(source), count(*),
               count(*) FILTER (verdict IN ({failing}) OR outcome NOT IN ('ok', 'invalid'))
        FROM history
        WHERE (device = $1 OR $1 IS NULL) AND (branch = $2 OR $2 IS NULL)
        GROUP BY run ORDER BY any_value(started) DESC, run DESC LIMIT {int(limit)}"""
    return [RunLine(*row) for row in store.query(sql, (device, branch))]


def cases(store: Store, pattern: str = "", device: str | None = None) -> list[tuple[str, str, int]]:
    """Cases whose id contains ``pattern``: device, id, number of runs."""
    sql = """
        SELECT device, "case", count(*) FROM history
        WHERE contains("case", $1) AND (device = $2 OR $2 IS NULL)
        GROUP BY ALL ORDER BY ALL"""
    return [(str(found[0]), str(found[1]), int(found[2])) for found in store.query(sql, (pattern, device))]


def series(store: Store, case: str, device: str | None = None, figure: str = SECONDS) -> list[Point]:
    """A case over its runs, the oldest first.

    Raises :class:`HistoryError` for a case that the history does not have (naming similar ones), that several devices
    have, or that has no such figure.
    """
    if figure != SECONDS and figure not in FIGURES:
        raise HistoryError(f"there is no figure {figure!r}; known are {', '.join((SECONDS, *FIGURES))}")
    value = SECONDS if figure == SECONDS else f"map_extract(figures, '{figure}')[1]"
    spread = ("q25", "q75") if figure == SECONDS else ("NULL", "NULL")
    sql = f"""
        SELECT device, run, strftime(started, '%Y-%m-%dT%H:%M:%SZ'), "commit", dirty, machine, driver, toolchain,
               {value} AS value, {spread[0]}, {spread[1]}, verdict
        FROM history WHERE "case" = $1 AND (device = $2 OR $2 IS NULL) ORDER BY started, run"""
    found = store.query(sql, (case, device))
    if not found:
        raise HistoryError(_unknown(store, case, device))
    devices = sorted({row[0] for row in found})
    if len(devices) > 1:
        raise HistoryError(f"{case} was run on {', '.join(devices)}: choose one with --device")
    points = [Point(*row[1:]) for row in found if row[8] is not None]
    if not points:
        hint = "; counted runs have --figure=sectors and others" if figure == SECONDS else ""
        raise HistoryError(f"{case} has no {figure} in any of its {len(found)} runs{hint}")
    return points


def by_commit(points: Sequence[Point]) -> list[Point]:
    """One point per commit in the order of their first runs: the median of its runs, with the spread between them."""
    grouped: dict[str, list[Point]] = {}
    for point in points:
        grouped.setdefault(point.commit + ("+" if point.dirty else "") or point.run, []).append(point)
    return [_joined(group) for group in grouped.values()]


def _joined(group: Sequence[Point]) -> Point:
    first, values = group[0], [point.value for point in group]
    if len(group) == 1:
        return first
    return Point(
        first.run,
        first.started,
        first.commit,
        first.dirty,
        first.machine,
        first.driver,
        first.toolchain,
        statistics.median(values),
        min(values),
        max(values),
        first.verdict,
    )


def _unknown(store: Store, case: str, device: str | None) -> str:
    where = f" on {device}" if device else ""
    known = sorted({name for _, name, _ in cases(store, "", device)})
    alike = difflib.get_close_matches(case, known, _NEAR, cutoff=0.8)
    return f"the history has no case {case}{where}" + (f"; near it are {', '.join(alike)}" if alike else "")


def table(store: Store, device: str, *, branch: str | None = None, limit: int = 200) -> Series:
    """Every case of a device over its latest runs, as reports show them, without change points.

    Raises :class:`HistoryError` for a device without runs.
    """
    sql = """
        WITH latest AS (
            SELECT run, any_value(started) AS started FROM history
            WHERE device = $1 AND (branch = $2 OR $2 IS NULL) AND kind = 'timed'
            GROUP BY run ORDER BY started DESC, run DESC LIMIT $3)
        SELECT run, strftime(history.started, '%Y-%m-%dT%H:%M:%SZ'), "commit", dirty, driver, "case", seconds
        FROM history JOIN latest USING (run) WHERE device = $1 ORDER BY history.started, run"""
    found = store.query(sql, (device, branch, limit))
    if not found:
        raise HistoryError(f"the history has no timed runs of {device}" + (f" on branch {branch}" if branch else ""))
    points: dict[str, RunPoint] = {}
    drivers: dict[str, str] = {}
    for run, started, commit, dirty, driver, *_ in found:
        if run not in points:
            before = next(reversed(drivers.values()), driver)
            notes = [f"driver {before} -> {driver}"] if driver != before else []
            notes += ["changes on top of the commit"] if dirty else []
            points[run] = RunPoint(run, started, commit, "; ".join(notes))
            drivers[run] = driver
    places = {run: place for place, run in enumerate(points)}
    seconds: dict[str, list[float | None]] = {}
    for run, *_, case, value in found:
        seconds.setdefault(case, [None] * len(points))[places[run]] = value
    return Series(tuple(points.values()), {case: tuple(values) for case, values in seconds.items()})
