"""A run beside another device: what its cases could reach there, and how far published figures compare. Pure.

All of it is derived from the run's own cases and device records; nothing becomes a measurement by standing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_roofline.across import BRIEF, Pair, Side, Trust, caveats, estimate, trust
from pytest_roofline.contract import Memory, Pipeline, Traffic, Work
from pytest_roofline.devices.record import DeviceRecord, RecordError, load
from pytest_roofline.roofline import assess
from pytest_roofline.runs.record import CaseRecord, Moved, PublishedFigure, RunRecord

OTHER = "a100_sxm4_80gb"
"""The record whose bounds are derived for every case; figures are attached to whichever card they name."""


@dataclass(frozen=True)
class There:
    """A case on the other device, derived: its ``bound`` in seconds and what needs it, and an ``estimate`` where its
    operation's published figures bear one out."""

    bound: float
    by: str
    estimate: float | None = None


@dataclass(frozen=True)
class Beside:
    """``cases`` by id; ``caveats`` by case id and card: why the two shares may not mean the same."""

    name: str = ""
    cases: dict[str, There] = field(default_factory=dict)
    caveats: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    trust: tuple[Trust, ...] = ()


def beside(run: RunRecord) -> Beside:
    """The run beside an A100; empty for a run on one."""
    if run.device.key == "a100":
        return Beside()
    other, here = load(OTHER), _record(run.device.record)
    pairs = [pair for case in run.cases for figure in case.published if (pair := _pair(case, figure, here)) is not None]
    trusted = trust(pairs)
    cases = {case.id: there for case in run.cases if (there := _there(case, other, here, trusted)) is not None}
    found = {(pair.case, pair.there.device): tuple(c.value for c in pair.caveats) for pair in pairs}
    return Beside(other.name, cases, found, tuple(sorted(trusted.values(), key=lambda t: t.family)))


def work_of(case: CaseRecord) -> Work:
    """The work of a case as it was declared. Raises ``ValueError`` for a pipeline or level of another version."""
    operations = {Pipeline(name): count for name, count in case.operations.items()}
    traffic = _traffic(case.traffic)
    return Work(operations, traffic[0] if traffic else Traffic(0, 0))


def _traffic(moved: Sequence[Moved]) -> tuple[Traffic, ...]:
    return tuple(Traffic(t.read, t.write, Memory(t.level)) for t in moved)


def _there(case: CaseRecord, other: DeviceRecord, here: DeviceRecord | None, trusted: dict[str, Trust]) -> There | None:
    try:
        limit = assess(work_of(case), _traffic(case.model), other).algorithm
    except ValueError:
        return None
    if limit is None or not limit.complete or not limit.seconds > 0:
        return None
    mine = _here(case, here)
    family = trusted.get(case.id.split("/", 1)[0])
    long = mine is not None and mine.seconds >= BRIEF
    return There(limit.seconds, limit.by, estimate(mine, limit.seconds, family) if mine is not None and long else None)


def _here(case: CaseRecord, here: DeviceRecord | None) -> Side | None:
    bound = case.bounds.get("algorithm")
    if here is None or bound is None or not bound.complete or case.seconds is None or not bound.seconds > 0:
        return None
    return Side(here.key, case.seconds, bound.seconds)


def _pair(case: CaseRecord, figure: PublishedFigure, here: DeviceRecord | None) -> Pair | None:
    mine = _here(case, here)
    if mine is None or here is None or not figure.seconds or not figure.fraction:
        return None
    try:
        found = caveats(work_of(case), (mine.seconds, figure.seconds), (here, load(figure.device)))
    except ValueError:  # a card or a pipeline that this version has no record of
        return None
    theirs = Side(figure.device, figure.seconds, figure.fraction * figure.seconds)
    return Pair(case.id, mine, theirs, found, figure.method, figure.source)


def _record(key: str | None) -> DeviceRecord | None:
    try:
        return load(key) if key else None
    except RecordError:
        return None
