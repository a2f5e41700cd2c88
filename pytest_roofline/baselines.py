"""Accepted results: ``baselines/<device>/<operation>.json``, summaries with provenance, never raw samples.

A *campaign* is one pass of the suite on one start of a machine; its environment is stored once and its runs refer to
it. Measured and published figures stand in blocks of their own and are never compared as if they were the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_roofline import cache
from pytest_roofline.devices.identify import match
from pytest_roofline.devices.record import keys
from pytest_roofline.evidence import Environment, Timing, from_plain, to_plain
from pytest_roofline.ids import CaseId
from pytest_roofline.statistics import QUANTILES, Summary, summarise

SCHEMA = 1
FINGERPRINT = ("device", "driver", "cuda", "sm_count", "ecc", "mig", "power_limit_w", "max_sm_clock_mhz")
TOOLCHAIN = ("torch", "triton", "cupy")


class BaselineError(ValueError):
    """A baseline cannot be used; the message names the file, the place and what to do."""


@dataclass(frozen=True)
class Run:
    """One case in one campaign: the summary of its samples and how they were taken. Seconds throughout."""

    log_mean: float
    quantiles: tuple[float, ...]
    count: int
    launches: int
    copies: int
    protocol: str
    gap: float | None
    kernel: float | None = None
    host: float | None = None
    sm_clock_mhz: tuple[int, int] | None = None
    power_w: tuple[float, float] | None = None
    temperature_c: tuple[int, int] | None = None
    throttle_reasons: tuple[str, ...] = ()

    @property
    def summary(self) -> Summary:
        """What comparisons use."""
        return Summary(self.log_mean, self.quantiles, self.count)


@dataclass(frozen=True)
class Published:
    """A figure somebody published, on an exact variant of a card (``device`` is a record's key)."""

    device: str
    metric: str
    value: float
    unit: str
    seconds: float | None
    formula: str
    implementation: str
    source: str
    method: str
    confidence: str


@dataclass
class Baseline:
    """The content of one file."""

    device: str
    operation: str
    campaigns: dict[str, Environment] = field(default_factory=dict)
    measured: dict[str, dict[str, Run]] = field(default_factory=dict)
    published: dict[str, list[Published]] = field(default_factory=dict)

    def case_ids(self) -> set[str]:
        """Every case that anything is stored for."""
        return {*self.measured, *self.published}


def run_of(timing: Timing) -> Run:
    """What is stored of a timing."""
    summary, state = summarise(timing.samples), timing.telemetry
    return Run(
        summary.log_mean,
        summary.quantiles,
        summary.count,
        timing.launches,
        timing.copies,
        timing.protocol,
        timing.gap,
        timing.kernel,
        timing.host,
        state.sm_clock_mhz,
        state.power_w,
        state.temperature_c,
        state.throttle_reasons,
    )


def campaign_id(environment: Environment, date: str) -> str:
    """Name of a campaign: day and start of the machine, so that a repetition replaces itself."""
    return f"{date[:10]}.{environment.machine[:8] or 'unknown'}"


def device_key(environment: Environment) -> str:
    """The folder of a device: its record's key, or a name made from the driver's for a GPU without one."""
    record = match(environment.device, environment.sm_count)
    return record.key if record else "_".join(environment.device.lower().replace("-", " ").split())


def differences(stored: Environment, here: Environment) -> list[str]:
    """What else than the kernel changed between two environments, in plain words."""
    found = [
        f"{name} {getattr(stored, name)} -> {getattr(here, name)}"
        for name in FINGERPRINT
        if getattr(stored, name) != getattr(here, name)
    ]
    for name in TOOLCHAIN:
        before, now = stored.packages.get(name), here.packages.get(name)
        if before != now:
            found.append(f"{name} {before} -> {now}")
    return found


@dataclass(frozen=True)
class Store:
    """The folder of baselines. A file is read when first asked for, and only written by :meth:`save`."""

    root: Path

    def path(self, device: str, operation: str) -> Path:
        """Where a device's results of an operation are."""
        return self.root / device / f"{operation}.json"

    def devices(self) -> list[str]:
        """The devices that anything is stored for."""
        return sorted(p.name for p in self.root.iterdir() if any(p.glob("*.json"))) if self.root.is_dir() else []

    def operations(self, device: str) -> list[str]:
        """The operations that anything is stored for on a device."""
        return sorted(p.stem for p in (self.root / device).glob("*.json"))

    def load(self, device: str, operation: str) -> Baseline:
        """One file's content; empty if there is no file. Raises :class:`BaselineError`."""
        path = self.path(device, operation)
        return read(path) if path.is_file() else Baseline(device, operation)

    def load_all(self, device: str) -> list[Baseline]:
        """Every file of a device. Raises :class:`BaselineError` for the first that cannot be used."""
        return [self.load(device, operation) for operation in self.operations(device)]

    def save(self, baseline: Baseline) -> Path:
        """Merge into the file and replace it atomically: other cases and campaigns in it are kept."""
        path = self.path(baseline.device, baseline.operation)
        merged = self.load(baseline.device, baseline.operation)
        merged.campaigns.update(baseline.campaigns)
        for case, runs in baseline.measured.items():
            merged.measured.setdefault(case, {}).update(runs)
        merged.published.update(baseline.published)
        cache.write_atomically(path, render(merged).encode())
        return path


def render(baseline: Baseline) -> str:
    """The file's text: keys sorted, one run per line, so that a diff shows what changed."""
    lines = ["{", f' "schema": {SCHEMA},', f' "device": {json.dumps(baseline.device)},']
    lines.append(f' "operation": {json.dumps(baseline.operation)},')
    campaigns = [f"  {json.dumps(k)}: {_line(v)}" for k, v in sorted(baseline.campaigns.items())]
    lines.append(' "campaigns": {' + _block(campaigns) + "},")
    cases = []
    for case, runs in sorted(baseline.measured.items()):
        inner = ",\n".join(f"   {json.dumps(k)}: {_line(v)}" for k, v in sorted(runs.items()))
        cases.append(f"  {json.dumps(case)}: {{\n{inner}}}")
    lines.append(' "measured": {' + _block(cases) + "},")
    figures = []
    for case, published in sorted(baseline.published.items()):
        inner = ",\n".join(f"   {_line(p)}" for p in published)
        figures.append(f"  {json.dumps(case)}: [\n{inner}]")
    lines.append(' "published": {' + _block(figures) + "}")
    return "\n".join([*lines, "}"]) + "\n"


def read(path: Path) -> Baseline:
    """Read and verify one file. Raises :class:`BaselineError` naming the file and what is wrong where."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        problem = "it is empty" if not path.stat().st_size else f"line {error.lineno}: {error.msg}"
        raise BaselineError(f"{path} is no baseline: {problem}; restore it from version control") from error
    except (ValueError, UnicodeDecodeError) as error:
        raise BaselineError(f"{path} is no baseline: {error}") from error
    try:
        return _verified(path, data)
    except BaselineError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BaselineError(f"{path} is no baseline: {error or type(error).__name__}") from error


def _verified(path: Path, data: Mapping[str, Any]) -> Baseline:
    if data.get("schema") != SCHEMA:
        raise BaselineError(f"{path}: schema {data.get('schema')!r} is not {SCHEMA}; it was written by another version")
    device, operation = path.parent.name, path.stem
    if (data["device"], data["operation"]) != (device, operation):
        raise BaselineError(
            f"{path} says it is {data['operation']} on {data['device']}: a baseline of another device is refused"
        )
    baseline = Baseline(device, operation)
    for name, environment in data["campaigns"].items():
        baseline.campaigns[name] = _environment(path, device, name, environment)
    for case, runs in data["measured"].items():
        _check_id(path, operation, case)
        baseline.measured[case] = {name: _run(path, case, name, run, baseline.campaigns) for name, run in runs.items()}
    for case, figures in data["published"].items():
        _check_id(path, operation, case)
        baseline.published[case] = [_figure(path, case, figure) for figure in figures]
    return baseline


def _environment(path: Path, device: str, name: str, data: Mapping[str, Any]) -> Environment:
    environment = from_plain(Environment, data)
    measured_on = device_key(environment)
    if measured_on != device:
        raise BaselineError(
            f"{path}: campaign {name} was measured on {environment.device} ({measured_on}), not on {device}: "
            "a baseline of another device is refused"
        )
    return environment


def _run(path: Path, case: str, name: str, data: Mapping[str, Any], campaigns: Iterable[str]) -> Run:
    run = from_plain(Run, data)
    if name not in campaigns:
        raise BaselineError(f"{path}: {case} refers to the campaign {name}, which the file does not describe")
    if len(run.quantiles) != len(QUANTILES) or not all(0 < q < math.inf for q in run.quantiles):
        raise BaselineError(f"{path}: {case} in {name}: {len(QUANTILES)} positive quantiles are needed")
    if (
        not math.isfinite(run.log_mean)
        or not run.quantiles[0] * 0.99 <= math.exp(run.log_mean) <= run.quantiles[-1] * 1.01
    ):
        raise BaselineError(f"{path}: {case} in {name}: its mean {run.log_mean} does not lie within its quantiles")
    return run


def _figure(path: Path, case: str, data: Mapping[str, Any]) -> Published:
    figure = from_plain(Published, data)
    if figure.device not in keys():
        raise BaselineError(
            f"{path}: {case}: {figure.device!r} is no device record; published figures need an exact card"
        )
    if not figure.source or (figure.seconds is not None and not 0 < figure.seconds < math.inf):
        raise BaselineError(f"{path}: {case}: a published figure needs a source and a positive time")
    return figure


def _check_id(path: Path, operation: str, case: str) -> None:
    try:
        parsed = CaseId.parse(case)
    except ValueError as error:
        raise BaselineError(f"{path}: {error}") from error
    if parsed.operation != operation:
        raise BaselineError(f"{path}: {case} belongs into another file")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen = dict(pairs)
    if len(seen) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} stands in it twice")
    return seen


def _line(value: Any) -> str:
    return json.dumps(to_plain(value), sort_keys=True, allow_nan=False)


def _block(lines: list[str]) -> str:
    return "\n" + ",\n".join(lines) if lines else ""
