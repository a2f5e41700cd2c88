"""Command line and ini options, read once into one frozen dataclass."""

from __future__ import annotations

import math
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_roofline.baselines.counted import ARCHITECTURES, DEVICE
from pytest_roofline.checking.values import RANDOM
from pytest_roofline.devices.record import keys
from pytest_roofline.ids import CaseId
from pytest_roofline.retest import settings
from pytest_roofline.retest.settings import Settings

PROFILES = {"ci": 25, "default": 50, "thorough": 500, "exhaustive": 2000}
"""Hypothesis examples per kernel and dtype; ``ci`` is derandomised as well."""
SEEDS = 1 << 32
"""Seeds below this number are taken; hypothesis draws from far fewer."""


@dataclass(frozen=True)
class Reproduction:
    """One check to run again: ``--roofline-case=ID[@VALUES[#SEED]]``."""

    case: str
    values: str = RANDOM
    seed: int = 0

    @classmethod
    def parse(cls, text: str) -> Reproduction:
        """Read an option value. Raises ``ValueError`` with the grammar."""
        case, _, rest = text.partition("@")
        values, _, seed = rest.partition("#")
        CaseId.parse(case)
        if seed and not (seed.isascii() and seed.isdigit() and int(seed) < SEEDS):
            raise ValueError(f"bad seed {seed!r} in {text!r}: expected ID[@VALUES[#SEED]], SEED from 0 to {SEEDS - 1}")
        return cls(case, values or RANDOM, int(seed or 0))


@dataclass(frozen=True)
class Options:
    """What the user asked for. ``timing`` is ``--benchmark-only``: nothing is ever timed without it."""

    operations: tuple[str, ...]
    baselines: Path
    correctness_only: bool
    timing: bool
    device: str
    effort: str
    profile: str
    cases: tuple[Reproduction, ...]
    update: bool
    strict: bool
    spawn: bool
    timeout: float
    ceilings: str
    reach: str | None = None
    counted_for: str = DEVICE
    ncu: tuple[str, ...] = ()
    save: Path | None = None
    retest: Settings = field(default_factory=Settings)


def add_options(parser: pytest.Parser) -> None:
    """Register every option of the plugin."""
    group = parser.getgroup("roofline", "GPU kernels: correctness, timing, roofline, baselines")
    _add_checking(group)
    _add_timing(group)
    settings.add_options(group)
    _add_files(group)
    parser.addini("roofline_operations", type="args", default=[], help="directories that hold operation files")
    parser.addini("roofline_baselines", default="baselines", help="folder of the baselines")
    parser.addini("roofline_save", default="", help="folder that every benchmark run writes its run file into")


def _add_checking(group: Any) -> None:
    """What is run, and where."""
    group.addoption(
        "--correctness-only",
        action="store_true",
        help="check every kernel on drawn and listed shapes; no timing code runs",
    )
    group.addoption(
        "--roofline-on",
        choices=("auto", "gpu", "cpu"),
        default="auto",
        help="where kernels run: on the GPU if there is one (auto), on a GPU or not at all, on the CPU",
    )
    group.addoption(
        "--roofline-profile",
        choices=tuple(PROFILES),
        default="ci" if os.environ.get("CI") else "default",
        help="hypothesis examples per kernel: " + ", ".join(f"{k} {v}" for k, v in PROFILES.items()),
    )
    group.addoption(
        "--roofline-case",
        action="append",
        default=[],
        metavar="ID[@VALUES[#SEED]]",
        help="check just this case, as a failure prints it (may be repeated)",
    )
    group.addoption("--roofline-spawn", action="store_true", help="run every case in a process of its own")
    group.addoption(
        "--roofline-timeout", type=float, default=300.0, metavar="SECONDS", help="longest life of a spawned case"
    )


def _add_timing(group: Any) -> None:
    """How it is timed, and what else is asked of the timed cases."""
    group.addoption(
        "--roofline-effort",
        choices=("quick", "default", "full"),
        default="default",
        help="how many brackets each case gets; full also times every rung on every shape; without a GPU, quick counts "
        "one case of every kernel",
    )
    group.addoption(
        "--roofline-ceilings",
        choices=("cached", "measure", "off"),
        default="cached",
        help="measured ceilings of this GPU: use stored ones, measure them now, or only the datasheet",
    )
    group.addoption(
        "--roofline-device",
        metavar="KEY",
        help="also list what every timed case could reach on this device, from its datasheet (a100_sxm4_80gb, ...)",
    )
    group.addoption(
        "--roofline-count-for",
        choices=tuple(ARCHITECTURES),
        default=DEVICE,
        help="without a GPU: the device that kernels are counted and compiled for, and whose stored counts they are "
        "compared with",
    )
    group.addoption(
        "--roofline-ncu",
        action="append",
        default=[],
        metavar="flagged|PATTERN",
        help="after timing, take hardware counters with Nsight Compute: of flagged cases and the furthest from their "
        "bound, or of cases whose id matches (may be repeated)",
    )
    group.addoption(
        "--roofline-strict",
        action="store_true",
        help="fail on warnings too: new, unresolved, environment, stale_ceiling",
    )


def _add_files(group: Any) -> None:
    """What a run compares with and what it leaves."""
    group.addoption("--roofline-update", action="store_true", help="store this run in the baselines of its device")
    group.addoption(
        "--roofline-baselines", metavar="DIR", help="folder of the baselines (default: ini, then baselines/)"
    )
    group.addoption(
        "--roofline-save",
        metavar="PATH",
        help="write everything this benchmark run found to a file (PATH ends in .json) or into a folder "
        "(default: ini roofline_save, then nowhere)",
    )


def read_options(config: pytest.Config) -> Options:
    """Collect the options. Raises ``pytest.UsageError`` (exit code 4) for what makes no sense."""
    get = config.getoption
    timing = bool(get("benchmark_only", False))
    _refuse_contradictions(config, timing)
    return Options(
        operations=tuple(config.getini("roofline_operations")),
        baselines=_baselines(config),
        correctness_only=get("correctness_only"),
        timing=timing,
        device=get("roofline_on"),
        effort=get("roofline_effort"),
        profile=get("roofline_profile"),
        cases=_cases(get("roofline_case"), timing),
        update=get("roofline_update"),
        strict=get("roofline_strict"),
        spawn=get("roofline_spawn"),
        timeout=get("roofline_timeout"),
        ceilings=get("roofline_ceilings"),
        reach=_reach(get("roofline_device")),
        counted_for=get("roofline_count_for"),
        ncu=tuple(get("roofline_ncu")),
        save=_save(config) if timing else None,
        retest=settings.read(config, timing=timing),
    )


def _refuse_contradictions(config: pytest.Config, timing: bool) -> None:
    """Options that exclude or need each other, and values out of range."""
    get = config.getoption
    if get("correctness_only") and timing:
        raise pytest.UsageError(
            "--correctness-only and --benchmark-only exclude each other: one times nothing, the other times"
        )
    for given, reason in (
        (get("roofline_update"), "--roofline-update stores a benchmark run"),
        (get("roofline_ncu"), "--roofline-ncu profiles timed cases"),
        (get("roofline_save") is not None, "--roofline-save stores a benchmark run"),
    ):
        if given and not timing:
            raise pytest.UsageError(f"{reason}: it needs --benchmark-only")
    if not 0 < get("roofline_timeout") < math.inf:
        raise pytest.UsageError(
            f"--roofline-timeout must be a positive number of seconds, got {get('roofline_timeout')}"
        )


def _cases(texts: list[str], timing: bool) -> tuple[Reproduction, ...]:
    """The cases that ``--roofline-case`` names."""
    try:
        cases = tuple(Reproduction.parse(text) for text in texts)
    except ValueError as error:
        raise pytest.UsageError(f"--roofline-case: {error}") from error
    if timing and any((c.values, c.seed) != (RANDOM, 0) for c in cases):
        raise pytest.UsageError("--benchmark-only times random values: leave @VALUES#SEED out of --roofline-case")
    return cases


def _reach(key: str | None) -> str | None:
    """The record that ``--roofline-device`` names."""
    if key is not None and key not in keys():
        raise pytest.UsageError(f"--roofline-device: no device record {key!r}; known are {', '.join(keys())}")
    return key


def _baselines(config: pytest.Config) -> Path:
    """The folder of baselines. One that the command line names must exist, unless this run writes it."""
    named = config.getoption("roofline_baselines")
    folder: Path = config.rootpath / (named or config.getini("roofline_baselines"))
    if folder.exists() and not folder.is_dir():
        raise pytest.UsageError(f"baselines are a folder, but {folder} is none")
    if named is not None and not folder.is_dir() and not config.getoption("roofline_update"):
        raise pytest.UsageError(f"--roofline-baselines={named}: there is no folder {folder}")
    return folder


def _save(config: pytest.Config) -> Path | None:
    """Where this run's file goes. What the command line names is relative to where pytest was started, as for
    ``--benchmark-json``; what the ini file names is relative to the project."""
    named = config.getoption("roofline_save")
    if named == "":
        raise pytest.UsageError("--roofline-save needs the path of a .json file or of a folder")
    if named is not None:
        path: Path = config.invocation_params.dir / named
    elif config.getini("roofline_save"):
        path = config.rootpath / config.getini("roofline_save")
    else:
        return None
    if path.suffix == ".json" and path.is_dir():
        raise pytest.UsageError(f"--roofline-save: {path} is a folder: name a file, or a folder without .json")
    if path.suffix != ".json" and path.exists() and not path.is_dir():
        raise pytest.UsageError(f"--roofline-save: {path} is a file: give it the ending .json, or name a folder")
    folder = path.parent if path.suffix == ".json" else path
    try:  # now, not after minutes of timing
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise pytest.UsageError(f"--roofline-save: nothing can be written into {folder}: {error.strerror}") from error
    return path
