"""From what a session knows to the records of a run file: nothing is computed here that the session has not judged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_roofline.baselines import RECORDS
from pytest_roofline.contract import Case, Memory, Operation, Pipeline, Traffic
from pytest_roofline.counting import counts
from pytest_roofline.counting.counts import CaseCounts
from pytest_roofline.devices.ceilings import Ceilings
from pytest_roofline.devices.record import DeviceRecord, load
from pytest_roofline.evidence import Evidence, Timing
from pytest_roofline.gate import CountedRow
from pytest_roofline.judging import Row
from pytest_roofline.roofline import Assessment, Limit, assess, cached_limit
from pytest_roofline.runs.beside import Beside, compiled
from pytest_roofline.runs.record import (
    Bound,
    Bracket,
    CaseRecord,
    Comparison,
    CountedFigures,
    Device,
    KernelFacts,
    MeasuredCeilings,
    Moved,
    OperationFacts,
    Times,
)
from pytest_roofline.statistics import Summary
from pytest_roofline.verdict import Verdict


def timed(row: Row, evidence: Evidence, beside: Beside, record: DeviceRecord | None) -> CaseRecord:
    """The record of a timed case."""
    return CaseRecord(
        **_problem(row.case, row.timing.code if row.timing else None),
        outcome=evidence.outcome.value,
        detail=evidence.detail,
        times=_times(row, row.timing, row.summary) if row.timing and row.summary else None,
        bytes_per_second=row.rates.bytes_per_second if row.rates else None,
        operations_per_second=row.rates.operations_per_second if row.rates else None,
        bounds=_bounds(row.case, row.assessment, record),
        regime=row.assessment.regime.value,
        fraction=row.assessment.fraction(row.seconds),
        fraction_of_ceiling=row.assessment.fraction_of_ceiling(row.seconds),
        verdict=comparison("all", row.verdict),
        comparisons=tuple(comparison(name, found) for name, found in row.comparisons),
        telemetry=row.timing.telemetry if row.timing else None,
        counted=beside.counted(row.case),
        published=beside.published(row.case),
    )


def counted(row: CountedRow, beside: Beside, root: Path) -> CaseRecord:
    """The record of a counted case, its source files relative to ``root``. No time in it, and its bounds are those of
    the datasheet of the device that it was counted for."""
    record = load(RECORDS[row.target[0]])
    assessment = assess(row.case.work, row.case.model, record)
    figures = CountedFigures(
        row.arch,
        str(row.case),
        counts.to_plain(_placed(row.counts, root), places=True),
        tuple(compiled(key, found.compiler, found) for key, found in row.code.kernels.items()),
        row.code.missing,
        row.code.keys,
        row.code.calls,
    )
    return CaseRecord(
        **_problem(row.case),
        bounds=_bounds(row.case, assessment, record),
        regime=assessment.regime.value,
        verdict=comparison("counts", row.verdict),
        counted=figures,
        published=beside.published(row.case),
    )


def relative(path: str, root: Path) -> str:
    """A path as the project calls it: a file that is handed on names no folder of this machine."""
    inside = Path(path).is_absolute() and Path(path).is_relative_to(root)
    return Path(path).relative_to(root).as_posix() if inside else path


def failed(case: Case, outcome: str, detail: str) -> CaseRecord:
    """The record of a case whose check failed: nothing of it was timed."""
    return CaseRecord(**_problem(case), outcome=outcome, detail=detail)


def missing(case: Case, verdict: Verdict) -> CaseRecord:
    """The record of a case that has no result and should have one."""
    return CaseRecord(**_problem(case), verdict=comparison("baseline", verdict))


def comparison(against: str, verdict: Verdict) -> Comparison:
    """A verdict as plain data."""
    change = verdict.change
    numbers = (change.ratio, change.low, change.high, change.detectable) if change else (None,) * 4
    ratio, low, high, detectable = numbers
    return Comparison(
        against,
        verdict.kind.value,
        verdict.reason.value,
        verdict.sentence,
        ratio=ratio,
        low=low,
        high=high,
        detectable=detectable,
        campaigns=verdict.campaigns,
    )


def operations(found: Iterable[Operation]) -> dict[str, OperationFacts]:
    """What is computed, by name."""
    return {
        operation.name: OperationFacts(
            operation.summary,
            operation.protocol.value,
            tuple(f"{kernel.backend}/{kernel.variant}" for kernel in operation.kernels),
            {"/".join(key): reason for key, reason in operation.absent.items()},
        )
        for operation in found
    }


def device(key: str, name: str, record: DeviceRecord | None) -> Device:
    """A device with what its datasheet says; rates and limits are left out where it says nothing."""
    if record is None:
        return Device(key, name)
    roofs = {level.value: record.bandwidth_figure(level) for level in Memory}
    peaks = {pipeline.value: record.peak_figure(pipeline) for pipeline in Pipeline}
    limits = {n: number for n in record.fields if (number := record.number(n)) is not None}
    sources = {n: figure.source for n, figure in {**record.fields, **roofs, **peaks}.items()}
    return Device(
        key,
        name,
        record.key,
        record.compute_capability,
        {n: float(figure.value) for n, figure in roofs.items() if figure.value is not None},
        {n: float(figure.value) for n, figure in peaks.items() if figure.value is not None},
        limits,
        sources,
    )


def ceilings(found: Ceilings | None) -> MeasuredCeilings | None:
    """Measured ceilings without the environment, which the run has itself."""
    if found is None:
        return None
    return MeasuredCeilings(
        found.date,
        found.copy,
        found.read,
        found.empty_launch,
        dict(found.peaks),
        {k: str(v) for k, v in found.how.items()},
    )


def _problem(case: Case, code: str | None = None) -> dict[str, Any]:
    """What every record of a case begins with: identity, kernel and work."""
    kernel, work = case.kernel, case.work
    bytes_moved, done = work.traffic.total, sum(work.operations.values())
    return {
        "id": str(case),
        "dims": case.shape.dims,
        "kernel": KernelFacts(
            order=case.operation.kernels.index(kernel),
            best=kernel.best,
            peer=kernel.peer,
            tile=tuple(kernel.tile),
            options={name: _simple(value) for name, value in kernel.options.items()},
            code=code,
        ),
        "operations": {pipeline.value: number for pipeline, number in work.operations.items()},
        "traffic": (_moved(work.traffic),),
        "model": tuple(map(_moved, case.model)),
        "intensity": done / bytes_moved if bytes_moved else None,
    }


def _placed(found: CaseCounts, root: Path) -> CaseCounts:
    launches = [
        replace(launch, accesses=tuple(replace(a, file=relative(a.file, root)) for a in launch.accesses))
        for launch in found.launches
    ]
    return replace(found, launches=tuple(launches))


def _simple(value: Any) -> Any:
    """An option of a kernel as JSON has it; anything else by its text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _moved(traffic: Traffic) -> Moved:
    return Moved(traffic.level.value, traffic.read, traffic.write)


def _times(row: Row, timing: Timing, summary: Summary) -> Times:
    bracket = Bracket(
        seconds=summary.seconds,
        log_mean=summary.log_mean,
        quantiles=summary.quantiles,
        count=summary.count,
        launches=timing.launches,
        copies=timing.copies,
        protocol=timing.protocol,
        tick=timing.tick,
        launch_floor=timing.launch_floor,
        gap=timing.gap,
        linearity=timing.linearity,
        discarded=timing.discarded,
        samples=tuple(timing.samples),
    )
    return Times(row.seconds, "cupti" if row.from_cupti else "bracket", bracket, timing.kernel, timing.host)


def _bounds(case: Case, assessment: Assessment, record: DeviceRecord | None) -> Mapping[str, Bound]:
    limits: dict[str, Limit | None] = {
        "problem": assessment.problem,
        "algorithm": assessment.algorithm,
        "ceiling": assessment.ceiling,
        "cached": cached_limit(case.work, record) if record is not None else None,
    }
    return {
        name: Bound(limit.seconds, limit.by, limit.regime.value, limit.complete)
        for name, limit in limits.items()
        if limit is not None
    }
