"""Run cases under Nsight Compute and read what it prints. One process for all cases, never the one that times."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_roofline.counters.metrics import METRICS, Counters, counters
from pytest_roofline.evidence import CaseSpec, to_plain

MARK = "heaviside_kernel"  # torch's kernel that target.py launches before each case; nothing else launches it
_IDENTITY = "Kernel Name"
_PERMISSION = "ERR_NVGPUCTRPERM"

_HELP = {
    _PERMISSION: (
        "the driver lets only administrators read performance counters. On your own machine: put "
        "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d and load the driver again; in a "
        "container: start it with --cap-add=SYS_ADMIN; on a rented GPU: ask its owner"
    ),
    "ERR_NVGPUCTRPERM_MIG": "counters of a MIG slice need --cap-add=SYS_ADMIN and a slice of its own",
    "No kernels were profiled": "no case could be launched under the profiler",
    "driver resource": "another profiler (DCGM, a second ncu) holds this GPU's counters: stop it and run again",
}


class CountersUnavailableError(Exception):
    """There are no counters to be had here; the message says why and what to do."""


@dataclass(frozen=True)
class Profile:
    """What one run of ncu found: launches by case id, and for the other cases why there is nothing."""

    tool: str
    cases: Mapping[str, tuple[Counters, ...]]
    problems: Mapping[str, str] = field(default_factory=dict)


def profile(specs: Sequence[CaseSpec], executable: str = "ncu", timeout: float = 600.0) -> Profile:
    """Counters of every case, each launched once with cold caches.

    Raises :class:`CountersUnavailableError` where ncu is missing, refuses, or did not end within ``timeout`` seconds.
    """
    found = shutil.which(executable)
    if found is None:
        raise CountersUnavailableError(
            f"{executable} is not on PATH: Nsight Compute comes with the CUDA toolkit (package cuda-nsight-compute, or "
            "https://developer.nvidia.com/nsight-compute); add its folder to PATH"
        )
    orders = [replace(spec, profile=True, time=False, count=False) for spec in specs]
    with tempfile.TemporaryDirectory(prefix="pytest-roofline-ncu-") as folder:
        order, result = Path(folder) / "orders.json", Path(folder) / "result.json"
        order.write_text(json.dumps(to_plain(orders)), encoding="utf-8")
        out = _run(
            [found, *arguments(), sys.executable, "-m", "pytest_roofline.counters.target", order, result], timeout
        )
        ended = json.loads(result.read_text(encoding="utf-8")) if result.exists() else None
    if ended is None:
        raise CountersUnavailableError(f"the profiled process died before it was done:\n{out[-2000:].strip()}")
    return Profile(_version(found), assign(ended["profiled"], launches(out)), ended["problems"])


def arguments() -> list[str]:
    """Options of ncu. Clocks stay as they are and caches are flushed, as they were when the cases were timed."""
    quiet = ["--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "demangled"]
    state = ["--clock-control", "none", "--cache-control", "all", "--profile-from-start", "off"]
    return [*quiet, *state, "--metrics", ",".join(METRICS)]


def _run(command: Sequence[str | Path], timeout: float) -> str:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    try:
        done = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise CountersUnavailableError(f"ncu did not end within {timeout:g} s and was killed") from error
    output = done.stdout + done.stderr
    problem = refusal(output)
    if problem is not None:
        raise CountersUnavailableError(problem)
    return output


def refusal(output: str) -> str | None:
    """Why ncu gave no counters, with what to do about it; ``None`` if it did not refuse."""
    for mark, what_to_do in sorted(_HELP.items(), key=lambda item: -len(item[0])):
        if mark in output:
            line = next((line.strip() for line in output.splitlines() if mark in line), mark)
            return f"ncu: {line.removeprefix('==ERROR== ')}\n{what_to_do}"
    return None


def launches(output: str) -> list[tuple[str, dict[str, float]]]:
    """Every profiled launch in order: the kernel's name and its counters.

    ``output`` is what ``ncu --csv --page raw --print-units base`` prints, the profiled program's own lines before it.
    Raises :class:`CountersUnavailableError` where there is no table.
    """
    start = output.find('"ID"')
    if start < 0:
        raise CountersUnavailableError(f"ncu printed no table of counters:\n{output[-2000:].strip()}")
    rows = csv.DictReader(io.StringIO(output[start:]))
    table = [row for row in rows if row.get(_IDENTITY) and (row.get("ID") or "").isdigit()]  # not the row of units
    return [(row[_IDENTITY], _numbers(row)) for row in table]


def _numbers(row: Mapping[str, str | None]) -> dict[str, float]:
    found = {}
    for name in METRICS:
        text = (row.get(name) or "").replace(",", "")
        try:
            found[name] = float(text)
        except ValueError:
            continue  # "n/a": this chip has no such counter
    return found


def assign(cases: Sequence[str], found: Sequence[tuple[str, Mapping[str, float]]]) -> dict[str, tuple[Counters, ...]]:
    """Launches by case: every case begins with the kernel of :data:`MARK`, which is left out.

    Raises :class:`CountersUnavailableError` when there are not as many marks as cases: then nothing can be told apart.
    """
    marks = [place for place, (kernel, _) in enumerate(found) if MARK in kernel]
    if len(marks) != len(cases):
        raise CountersUnavailableError(f"ncu saw {len(marks)} marks between kernels for {len(cases)} cases")
    ends = [*marks[1:], len(found)]
    return {
        case: tuple(counters(kernel, raw) for kernel, raw in found[begin + 1 : end])
        for case, begin, end in zip(cases, marks, ends, strict=True)
    }


def _version(executable: str) -> str:
    done = subprocess.run([executable, "--version"], capture_output=True, text=True, check=False)
    versions = [line for line in done.stdout.splitlines() if line.startswith("Version")]
    return f"Nsight Compute {versions[0].split()[1]}" if versions else "Nsight Compute"
