"""Times of cases over several runs, as a report shows them. Pure; the history store fills it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RunPoint:
    """One run on the time axis: its id, when it began (UTC, ISO 8601), its commit, and what else a reader should know
    (another driver, changes on top of the commit)."""

    id: str
    started: str
    commit: str = ""
    note: str = ""


@dataclass(frozen=True)
class Series:
    """Typical seconds of every case in every run, oldest first; ``None`` where a run did not time it.

    ``changes`` are indices into ``runs``: the first run of each new level of a case.
    """

    runs: tuple[RunPoint, ...] = ()
    seconds: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    changes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for case, values in self.seconds.items():
            if len(values) != len(self.runs):
                raise ValueError(f"{case} has {len(values)} times for {len(self.runs)} runs")
        for case, places in self.changes.items():
            if not all(0 < place < len(self.runs) for place in places):
                raise ValueError(f"{case}: a change at {places} lies outside the {len(self.runs)} runs")
