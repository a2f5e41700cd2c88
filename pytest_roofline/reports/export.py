"""A run as a flat table, for spreadsheets and data frames: CSV or JSON, a row per case. Pure.

Times are in seconds, rates per second, so that nothing has to be parsed out of a cell.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from pytest_roofline.runs.figures import NAMES, figures
from pytest_roofline.runs.record import CaseRecord, RunRecord
from pytest_roofline.statistics import QUANTILES

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def table(run: RunRecord) -> list[dict[str, Any]]:
    """A row per case; ``None`` where something is not known. All rows have the same columns."""
    return [{**_of_run(run), **_of_case(run, case)} for case in run.cases]


def as_json(run: RunRecord) -> str:
    """The table as a JSON list of objects."""
    return json.dumps(table(run), indent=1, allow_nan=False) + "\n"


def as_csv(run: RunRecord) -> str:
    """The table as CSV with a header. Text that a spreadsheet would take for a formula has an apostrophe first."""
    found, out = table(run), io.StringIO()
    names = list(found[0]) if found else []
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in found)
    return out.getvalue()


def _of_run(run: RunRecord) -> dict[str, Any]:
    commit = run.commit
    return {
        "run": run.id,
        "started": run.started,
        "kind": run.kind,
        "device": run.device.key,
        "gpu": run.device.name,
        "driver": run.environment.driver if run.environment else None,
        "commit": commit.id if commit else None,
        "dirty": commit.dirty if commit else None,
    }


def _of_case(run: RunRecord, case: CaseRecord) -> dict[str, Any]:
    parts, verdict = case.parts, case.verdict
    known = figures(case.counted)
    return {
        "case": case.id,
        "operation": parts.operation,
        "backend": parts.backend,
        "variant": parts.variant,
        "dtype": parts.dtype,
        "shape": str(parts.shape),
        "order": case.kernel.order,
        "best": case.kernel.best,
        "peer": case.kernel.peer,
        "outcome": case.outcome,
        **_times(case),
        "bytes_per_second": case.bytes_per_second,
        "operations_per_second": case.operations_per_second,
        "intensity": case.intensity,
        **{f"bound_{name}_seconds": _bound(case, name) for name in ("problem", "algorithm", "ceiling", "cached")},
        "bound_by": case.bounds["algorithm"].by if "algorithm" in case.bounds else None,
        "regime": case.regime,
        "fraction": case.fraction,
        "fraction_of_ceiling": case.fraction_of_ceiling,
        "peer_ratio": run.peer_ratio(case),
        "verdict": verdict.kind if verdict else None,
        "reason": verdict.reason if verdict else None,
        "ratio": verdict.ratio if verdict else None,
        "low": verdict.low if verdict else None,
        "high": verdict.high if verdict else None,
        "detectable": verdict.detectable if verdict else None,
        "counted_case": case.counted.case if case.counted else None,
        **{f"counted_{name}": known.get(name) for name in NAMES},
    }


def _times(case: CaseRecord) -> dict[str, Any]:
    times = case.times
    bracket = times.bracket if times else None
    quantiles = bracket.quantiles if bracket else (None,) * len(QUANTILES)
    return {
        "seconds": times.seconds if times else None,
        "seconds_from": times.source if times else None,
        "bracket_seconds": bracket.seconds if bracket else None,
        **{f"q{round(100 * q):02d}": value for q, value in zip(QUANTILES, quantiles, strict=True)},
        "samples": bracket.count if bracket else None,
        "cupti_seconds": times.cupti if times else None,
        "host_seconds": times.host if times else None,
    }


def _bound(case: CaseRecord, name: str) -> float | None:
    return case.bounds[name].seconds if name in case.bounds else None


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
