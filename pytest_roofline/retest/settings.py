"""The options of the retest, and what they come to."""

from __future__ import annotations

import fnmatch
import math
from dataclasses import dataclass
from typing import Any

import pytest

SUSPECTS, ALL, OFF = "suspects", "all", "off"


@dataclass(frozen=True)
class Settings:
    """``against`` is a git ref or a directory, ``which`` says what is retested, ``calibrate`` in how many processes
    every kernel is compared with itself (0: none), ``slow`` has patterns of case ids and a fraction to delay them by,
    ``processes`` is of how many a stored campaign takes the middle one.
    """

    against: str | None = None
    which: str = SUSPECTS
    calibrate: int = 0
    slow: tuple[tuple[str, float], ...] = ()
    processes: int = 1

    def slowdown(self, case: str) -> float:
        """By which fraction a case is delayed: what the last pattern that matches says."""
        return next((by for pattern, by in reversed(self.slow) if fnmatch.fnmatchcase(case, pattern)), 0.0)


def add_options(group: Any) -> None:
    """Register the options."""
    group.addoption(
        "--roofline-against",
        metavar="REF-or-DIR",
        help="settle what the baseline cannot clear by timing the kernels of this git ref or directory in turn with "
        "those of the working tree (baseline: of the baseline's commit); without a GPU compare the counts of both",
    )
    group.addoption(
        "--roofline-retest",
        choices=(SUSPECTS, ALL, OFF),
        default=SUSPECTS,
        help="which cases are measured again in fresh processes: what the baseline cannot clear, all, or none",
    )
    group.addoption(
        "--roofline-calibrate",
        nargs="?",
        type=int,
        const=4,
        default=0,
        metavar="PROCESSES",
        help="store how much each unchanged kernel differs from itself, in so many fresh processes (default 4)",
    )
    group.addoption(
        "--roofline-processes",
        type=int,
        default=1,
        metavar="N",
        help="with --roofline-update: measure each kernel in so many fresh processes and store the middle one, so that "
        "later runs are compared with less noise (default 1)",
    )
    group.addoption(
        "--roofline-slow",
        action="append",
        default=[],
        metavar="PATTERN=PERCENT",
        help="for tests of the verdict: delay cases whose id matches on the device by so many percent of their time",
    )


def read(config: pytest.Config, *, timing: bool) -> Settings:
    """Collect them. Raises ``pytest.UsageError`` for what makes no sense."""
    get = config.getoption
    found = Settings(
        against=get("roofline_against"),
        which=get("roofline_retest"),
        calibrate=get("roofline_calibrate"),
        slow=tuple(map(_slow, get("roofline_slow"))),
        processes=get("roofline_processes"),
    )
    for flag, given in (("against", found.against is not None), ("calibrate", found.calibrate), ("slow", found.slow)):
        if given and not timing:
            raise pytest.UsageError(f"--roofline-{flag} belongs to a benchmark run: it needs --benchmark-only")
    if found.calibrate and not 2 <= found.calibrate <= 64:
        raise pytest.UsageError(f"--roofline-calibrate takes 2 to 64 processes, got {found.calibrate}")
    if found.processes != 1 and not get("roofline_update"):
        raise pytest.UsageError("--roofline-processes says what is stored: it needs --roofline-update")
    if not 1 <= found.processes <= 63 or found.processes % 2 == 0:
        raise pytest.UsageError(f"--roofline-processes takes an odd number up to 63, got {found.processes}")
    if found.slow and get("roofline_update"):
        raise pytest.UsageError("--roofline-slow plants slowdowns: they are never stored, leave --roofline-update out")
    if found.slow and found.calibrate:
        raise pytest.UsageError("--roofline-slow plants slowdowns: leave --roofline-calibrate out")
    return found


def _slow(text: str) -> tuple[str, float]:
    pattern, equals, percent = text.rpartition("=")
    try:
        fraction = float(percent.removesuffix("%")) / 100
    except ValueError:
        fraction = math.nan
    if not (pattern and equals and 0 < fraction <= 10):
        raise pytest.UsageError(f"--roofline-slow: {text!r} is not PATTERN=PERCENT, like 'copy/*=2'")
    return pattern, fraction
