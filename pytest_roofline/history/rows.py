"""From a run file to rows of the history, one per case. Pure.

Two kinds of file are read: ours, and pytest-benchmark's, where a benchmark that is none of our cases keeps the name of
its test. Times are seconds; ``seconds`` is what runs are compared by, always from brackets, ``kernel_seconds`` what the
roofline uses.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from pytest_roofline.history import HistoryError
from pytest_roofline.ids import CaseId
from pytest_roofline.runs import JOURNAL, CaseRecord, RunRecord, read_text
from pytest_roofline.runs.figures import figures
from pytest_roofline.statistics import QUANTILES

OURS, BENCHMARK = "roofline", "pytest-benchmark"
TWIN = ".pytest-benchmark"
"""Ending of the name under which pytest-benchmark's file of one of our runs is stored: it tells the same again."""


@dataclass(frozen=True)
class Row:
    """One case of one run. ``figures`` are counted ones, ``samples`` all that were kept."""

    run: str
    started: str
    source: str
    kind: str
    device: str
    gpu: str
    driver: str
    toolchain: str
    machine: str
    commit: str
    committed: str | None
    branch: str
    dirty: bool
    case: str
    operation: str
    backend: str
    variant: str
    dtype: str
    shape: str
    best: bool = False
    peer: bool = False
    outcome: str = "ok"
    seconds: float | None = None
    q05: float | None = None
    q25: float | None = None
    q50: float | None = None
    q75: float | None = None
    q95: float | None = None
    samples: tuple[float, ...] = ()
    kernel_seconds: float | None = None
    host_seconds: float | None = None
    fraction: float | None = None
    bytes_per_second: float | None = None
    operations_per_second: float | None = None
    regime: str = ""
    verdict: str = ""
    reason: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    code: str | None = None
    figures: Mapping[str, float] | None = None


TYPES = {
    "str": "VARCHAR",
    "str | None": "VARCHAR",
    "bool": "BOOLEAN",
    "float | None": "DOUBLE",
    "tuple[float, ...]": "DOUBLE[]",
    "Mapping[str, float] | None": "MAP(VARCHAR, DOUBLE)",
}
COLUMNS = {f.name: "TIMESTAMP" if f.name in ("started", "committed") else TYPES[str(f.type)] for f in fields(Row)}
"""Columns of the store and their types in DuckDB; times of day are UTC."""


def rows(text: str, name: str) -> tuple[str, list[Row]]:
    """The run's name and its rows, from the text of a file called ``name``. Raises :class:`HistoryError`."""
    if name.endswith(JOURNAL):
        return _of_ours(text, name)
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return _of_ours(text, name)  # says where it was cut
    if isinstance(data, dict) and "benchmarks" in data and "format" not in data:
        try:
            return _of_benchmarks(data)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise HistoryError(f"{name} is no file of pytest-benchmark: {type(error).__name__} {error}") from error
    return _of_ours(text, name)


def _of_ours(text: str, name: str) -> tuple[str, list[Row]]:
    try:
        run = read_text(text, name)
        return run.id, list(of_run(run))
    except ValueError as error:
        raise HistoryError(str(error) if name in str(error) else f"{name} is no run file: {error}") from error


def of_run(run: RunRecord) -> Iterator[Row]:
    """The rows of one of our runs."""
    shared = _of_whole_run(run)
    for case in run.cases:
        yield Row(**shared, **_of_case(case))


def _of_whole_run(run: RunRecord) -> dict[str, Any]:
    here, commit = run.environment, run.commit
    versions = here.packages if here is not None else run.toolchain
    return {
        "run": run.id,
        "started": _utc(run.started),
        "source": OURS,
        "kind": run.kind,
        "device": run.device.key,
        "gpu": run.device.name,
        "driver": here.driver if here is not None else "",
        "toolchain": ", ".join(f"{package} {version}" for package, version in sorted(versions.items())),
        "machine": here.machine if here is not None else "",
        "commit": commit.id if commit is not None else "",
        "committed": _utc(commit.time) if commit is not None else None,
        "branch": (commit.branch if commit is not None else None) or "",
        "dirty": commit.dirty if commit is not None else False,
    }


def _of_case(case: CaseRecord) -> dict[str, Any]:
    return {
        **_named(case.id),
        "best": case.kernel.best,
        "peer": case.kernel.peer,
        "outcome": case.outcome,
        **(_times(case) if case.times is not None else {}),
        "fraction": case.fraction,
        "bytes_per_second": case.bytes_per_second,
        "operations_per_second": case.operations_per_second,
        "regime": case.regime,
        **(_verdict(case) if case.verdict is not None else {}),
        "code": case.kernel.code,
        # What a timed run has beside it was counted before, on another shape.
        "figures": figures(case.counted) if case.counted is not None and case.counted.case == case.id else None,
    }


def _times(case: CaseRecord) -> dict[str, Any]:
    assert case.times is not None
    bracket = case.times.bracket
    quantiles = {f"q{round(100 * q):02d}": value for q, value in zip(QUANTILES, bracket.quantiles, strict=True)}
    return {
        "seconds": bracket.seconds,
        **quantiles,
        "samples": bracket.samples,
        "kernel_seconds": case.times.seconds,
        "host_seconds": case.times.host,
    }


def _verdict(case: CaseRecord) -> dict[str, Any]:
    verdict = case.verdict
    assert verdict is not None
    return {
        "verdict": verdict.kind,
        "reason": verdict.reason,
        "ratio": verdict.ratio,
        "low": verdict.low,
        "high": verdict.high,
        "detectable": verdict.detectable,
    }


def _of_benchmarks(data: Mapping[str, Any]) -> tuple[str, list[Row]]:
    """pytest-benchmark's own file. Its run takes the name of ours where one wrote both, so that it counts once."""
    ours = data.get("roofline_run")
    name = f"{ours}{TWIN}" if ours else f"pb-{_digest(data)}"
    commit, machine = data.get("commit_info") or {}, data.get("machine_info") or {}
    shared: dict[str, Any] = {
        "run": name,
        "started": _utc(str(data["datetime"])),
        "source": BENCHMARK,
        "kind": "timed",
        "driver": "",
        "toolchain": f"python {machine.get('python_version', '')}".strip(),
        "machine": str(machine.get("node") or ""),
        "commit": str(commit.get("id") or ""),
        "committed": _utc(str(commit["time"])) if commit.get("time") else None,
        "branch": str(commit.get("branch") or ""),
        "dirty": bool(commit.get("dirty", False)),
    }
    return name, [Row(**shared, **_of_benchmark(entry, machine)) for entry in data["benchmarks"]]


def _of_benchmark(entry: Mapping[str, Any], machine: Mapping[str, Any]) -> dict[str, Any]:
    stats, ours = entry["stats"], (entry.get("extra_info") or {}).get("roofline") or {}
    device = str(ours.get("device") or machine.get("node") or "")
    cpu = (machine.get("cpu") or {}).get("brand_raw", "")
    return {
        **_named(str(ours.get("case") or entry["fullname"])),
        "device": _device_key(device) if ours else device,
        "gpu": device if ours else str(cpu),
        "seconds": _positive(stats["median"]),
        "q25": _positive(stats["q1"]),
        "q50": _positive(stats["median"]),
        "q75": _positive(stats["q3"]),
        "samples": tuple(map(float, stats.get("data") or ())),
        "kernel_seconds": ours.get("seconds"),
        "fraction": ours.get("fraction_of_bound"),
        "bytes_per_second": ours.get("bytes_per_second"),
        "operations_per_second": ours.get("operations_per_second"),
        "regime": str(ours.get("regime") or ""),
        "verdict": str(ours.get("verdict") or ""),
        "reason": str(ours.get("reason") or ""),
    }


def _named(case: str) -> dict[str, str]:
    """The parts of a case's id; a test that is none of our cases is an operation of its own."""
    try:
        parts = CaseId.parse(case)
    except ValueError:
        return {"case": case, "operation": case, "backend": "", "variant": "", "dtype": "", "shape": ""}
    names = {name: getattr(parts, name) for name in ("operation", "backend", "variant", "dtype")}
    return {"case": case, **names, "shape": str(parts.shape)}


def _device_key(driver_name: str) -> str:
    """The folder of baselines of a GPU, from what its driver calls it."""
    from pytest_roofline.devices.identify import match

    record = match(driver_name)
    return record.key if record else "_".join(driver_name.lower().replace("-", " ").split())


def _utc(text: str) -> str:
    """A time of day in UTC without saying so, which is what the store's columns hold. Raises ``ValueError``."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return moment.isoformat(sep=" ")


def _digest(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def _positive(value: Any) -> float:
    number = float(value)
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{value!r} is no time")
    return number
