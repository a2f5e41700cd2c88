"""Where a run comes from: its name, its commit, its versions."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import subprocess
import uuid
from collections.abc import Iterable
from pathlib import Path

from pytest_roofline.git_environment import own_repository
from pytest_roofline.runs.record import Commit

TOOLS = ("pytest-roofline", "pytest", "pytest-benchmark", "numpy", "torch", "triton", "nvidia-cuda-nvrtc")
_GIT_SECONDS = 10.0


def now() -> str:
    """The time of day in UTC, ISO 8601, to the second."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def new_id(started: str) -> str:
    """The name of a run: when it began, and enough chance that runs of many machines never share one."""
    day_and_time = started[:19].replace("-", "").replace(":", "")
    return f"{day_and_time}Z-{uuid.uuid4().hex[:8]}"


def commit_of(folder: Path) -> Commit | None:
    """The commit that ``folder`` is checked out at; ``None`` outside a repository, before the first commit, and without
    git."""
    answer = _git(folder, "log", "-1", "--format=%H%n%cI")
    if answer is None:
        return None
    identity, time = answer.splitlines()[:2]
    branch = _git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return Commit(identity, time, branch.strip() if branch else None, bool(changed and changed.strip()))


def toolchain(names: Iterable[str] = TOOLS) -> dict[str, str]:
    """The versions of what is installed of ``names``, and Python's."""
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=own_repository(),
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout if answer.returncode == 0 else None
