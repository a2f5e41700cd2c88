"""Timed cases of a run of the probes, read from its results file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_roofline.contract import Case, Traffic
from pytest_roofline.discovery import load_operation
from pytest_roofline.ids import CaseId


class ResultsError(ValueError):
    """The results of a run cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Result:
    """One timed case of a run."""

    case: Case
    seconds: float
    host: float
    launch_floor: float
    clock_mhz: float | None

    def rate(self, count: Callable[[Traffic], int]) -> float:
        """Bytes per second, of the traffic that ``count`` picks."""
        return count(self.case.work.traffic) / self.seconds


Results = Mapping[str, Result]


def read(path: Path) -> tuple[str, Results]:
    """The device of a run and its results by case, peers left out. Raises :class:`ResultsError`."""
    try:
        benchmarks = json.loads(path.read_text(encoding="utf-8"))["benchmarks"]
        found = [b["extra_info"]["roofline"] for b in benchmarks if "roofline" in b["extra_info"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{path} is no result of --benchmark-json: {error!r}") from error
    devices = {entry.get("device") for entry in found}
    if len(devices) != 1:
        raise ResultsError(
            f"{path} holds timings of {len(devices)} devices: take it from one run of the probes on a GPU"
        )
    return str(devices.pop()), {str(r.case): r for r in map(_result, found) if not r.case.kernel.peer}


def _result(entry: Mapping[str, Any]) -> Result:
    case_id = CaseId.parse(entry["case"])
    timing = entry["timing"]
    clocks = timing["telemetry"]["sm_clock_mhz"]
    case = load_operation(f"suite.operations.{case_id.operation}").case(case_id)
    return Result(case, entry["seconds"], timing["host"], timing["launch_floor"], clocks and sum(clocks) / 2)
