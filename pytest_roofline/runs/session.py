"""The run file of a pytest session: kept as a journal while cases finish, written when all have."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest_roofline
from pytest_roofline.baselines import ARCHITECTURES, RECORDS, device_key
from pytest_roofline.devices.record import load
from pytest_roofline.evidence import Environment, to_plain
from pytest_roofline.runs import building, files, provenance
from pytest_roofline.runs.beside import Beside
from pytest_roofline.runs.record import COUNTED, TIMED, CaseRecord, RunRecord

if TYPE_CHECKING:
    from pytest_roofline.contract import Case
    from pytest_roofline.evidence import Evidence
    from pytest_roofline.gate import CountedRow
    from pytest_roofline.judging import Row
    from pytest_roofline.state import State


@dataclass
class RunKeeper:
    """Keeps one session's run. Whoever finishes a case tells it; nothing is written unless a place was given."""

    state: State
    started: str = field(default_factory=provenance.now)
    _failed: dict[str, CaseRecord] = field(default_factory=dict)
    _journal: files.Journal | None = None

    @functools.cached_property
    def id(self) -> str:
        """The run's name."""
        return provenance.new_id(self.started)

    @functools.cached_property
    def path(self) -> Path | None:
        """Where the run file goes; ``None`` if nobody asked for one."""
        place = self.state.options.save
        if place is None:
            return None
        return place if place.suffix == ".json" else place / f"{self.id}.json"

    def timed(self, row: Row, evidence: Evidence) -> None:
        """A case was timed and judged."""
        if self.path is not None:
            self._write(self._timed(row, evidence))

    def counted(self, row: CountedRow) -> None:
        """A case was counted and judged."""
        if self.path is not None:
            self._write(self._counted(row))

    def failed(self, case: Case, outcome: str, detail: str) -> None:
        """The check of a case failed."""
        self._failed[str(case)] = building.failed(case, outcome, detail)
        if self.path is not None:
            self._write(self._failed[str(case)])

    def record(self) -> RunRecord:
        """The whole run as it stands now, with the verdicts as they stand now."""
        state = self.state
        if state.device == "gpu":
            cases = [self._timed(row, state.evidence[str(row.case)]) for row in state.rows]
            if "counters" in vars(state):
                cases = [replace(case, ncu=state.counters.figures(case.id)) for case in cases]
        else:
            cases = list(map(self._counted, state.gate.rows)) if "gate" in vars(state) else []
        missing = [building.missing(state.catalogue.case(name), found) for name, found in state.missing.items()]
        return self._run((*cases, *self._failed.values(), *missing), provenance.now())

    def save(self) -> Path | None:
        """Write the run file and drop the journal; ``None`` if nobody asked, or no case got as far as a result.

        Raises ``OSError``.
        """
        counted = "gate" in vars(self.state) and self.state.gate.rows
        if self.path is None or not (self.state.rows or counted or self._failed):
            return None
        path = files.save(self.record(), self.path)
        if self._journal is not None:
            self._journal.discard()
        return path

    @functools.cached_property
    def _beside(self) -> Beside:
        return Beside(self.state.store)

    def _timed(self, row: Row, evidence: Evidence) -> CaseRecord:
        return building.timed(row, evidence, self._beside, self.state.judge.record)

    def _counted(self, row: CountedRow) -> CaseRecord:
        return building.counted(row, self._beside, self.state.root)

    def _environment(self) -> Environment | None:
        """Of the first case that was timed: the same for all."""
        return next((e.environment for e in self.state.evidence.values() if e.environment), None)

    def _write(self, case: CaseRecord) -> None:
        assert self.path is not None
        if self._journal is None:
            self._journal = files.Journal(self.path.with_suffix(files.JOURNAL), self._run((), None))
        self._journal.add(case)

    def _run(self, cases: tuple[CaseRecord, ...], ended: str | None) -> RunRecord:
        state = self.state
        names = {case.parts.operation for case in cases} or state.collected
        operations = [e.operation for e in state.catalogue.loaded if e.operation.name in names]
        return RunRecord(
            id=self.id,
            started=self.started,
            ended=ended,
            version=pytest_roofline.__version__,
            commit=self._commit,
            toolchain=provenance.toolchain(),
            options=_options(state),
            operations=building.operations(operations),
            cases=cases,
            **self._where(),
        )

    def _where(self) -> Mapping[str, Any]:
        """What kind of run this is and what its figures hold for."""
        if self.state.device != "gpu":
            device = self.state.options.counted_for
            record = load(RECORDS[device])
            return {"kind": COUNTED, "device": building.device(device, ARCHITECTURES[device], record)}
        judge, here = self.state.judge, self._environment()
        key = device_key(here) if here else judge.record.key if judge.record else "unknown"
        return {
            "kind": TIMED,
            "device": building.device(key, here.device if here else key, judge.record),
            "environment": here,
            "ceilings": building.ceilings(judge.ceilings),
        }

    @functools.cached_property
    def _commit(self) -> Any:
        return provenance.commit_of(self.state.root)


def _options(state: State) -> dict[str, Any]:
    """The options of this run; paths as text, relative to the project where they are in it."""
    found = {f.name: getattr(state.options, f.name) for f in fields(state.options)}
    return {
        name: building.relative(str(value), state.root) if isinstance(value, Path) else to_plain(value)
        for name, value in found.items()
    }
