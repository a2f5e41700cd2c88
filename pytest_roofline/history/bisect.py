"""Find the commit that changed a case: ``git bisect`` in a worktree of its own, each step a run of that case.

Nothing in the checkout at hand is touched. A step runs a command that writes a run file, reads the case's figure from
it and ends with what ``git bisect run`` understands: 0 good, 1 bad, 125 cannot be tested.
"""

from __future__ import annotations

import math
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest_roofline
from pytest_roofline.history import HistoryError
from pytest_roofline.history.queries import SECONDS
from pytest_roofline.runs import RunFileError, read
from pytest_roofline.runs.accepting import UNTRUSTED
from pytest_roofline.runs.figures import figures
from pytest_roofline.statistics import MINIMAL

GOOD, BAD, SKIP = 0, 1, 125
"""What ``git bisect run`` takes a command's exit code for."""
DEFAULT_COMMAND = (
    sys.executable,
    "-m",
    "pytest",
    "-q",
    "--benchmark-only",
    "--roofline-case={case}",
    "--roofline-save={file}",
)
"""How a case is run: ``{case}`` and ``{file}`` are filled in. Its own verdict and exit code do not matter."""


class UntestableError(Exception):
    """This commit says nothing about the case; the message says why."""


@dataclass(frozen=True)
class Probe:
    """How to get one figure of one case: the command, and what to read from its run file."""

    case: str
    figure: str = SECONDS
    command: tuple[str, ...] = DEFAULT_COMMAND

    def measure(self, folder: Path) -> float:
        """Run the command in ``folder`` and read the figure. Raises :class:`UntestableError`."""
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "run.json"
            words = [word.replace("{case}", self.case).replace("{file}", str(file)) for word in self.command]
            try:
                ended = subprocess.run(words, cwd=folder, env=_outside(), capture_output=True, text=True, check=False)
            except OSError as error:
                raise UntestableError(f"{shlex.join(words)} cannot be run: {error}") from error
            if not file.exists():
                last = "\n".join((ended.stdout + ended.stderr).strip().splitlines()[-5:])
                how = f"ended with {ended.returncode} and wrote no run file"
                raise UntestableError(f"{shlex.join(words)} {how}:\n{last}")
            return self._read(file)

    def _read(self, file: Path) -> float:
        try:
            case = read(file).case(self.case)
        except (RunFileError, KeyError) as error:
            raise UntestableError(f"the run has no {self.case}: {error}") from error
        if case.outcome != "ok":
            raise UntestableError(f"{self.case}: {case.outcome}: {case.detail}")
        if case.verdict is not None and case.verdict.kind in UNTRUSTED:
            raise UntestableError(f"{self.case}: {case.verdict.kind}: {case.verdict.sentence}")
        found = {SECONDS: case.times.bracket.seconds} if case.times is not None else {}
        found.update(figures(case.counted) if case.counted is not None and case.counted.case == case.id else {})
        if self.figure not in found:
            raise UntestableError(f"{self.case} has no {self.figure} here; it has {', '.join(found) or 'no figures'}")
        return found[self.figure]


@dataclass(frozen=True)
class Threshold:
    """A figure is bad on the far side of the middle between ``good`` and ``bad``."""

    good: float
    bad: float

    def __post_init__(self) -> None:
        if abs(self.bad - self.good) <= MINIMAL * max(abs(self.good), abs(self.bad)):
            raise HistoryError(
                f"both ends are alike ({self.good:g} and {self.bad:g}): no commit between them can be told from them"
            )

    @property
    def middle(self) -> float:
        """The geometric mean, or the mean where one of the two is zero."""
        if self.good > 0 and self.bad > 0:
            return math.sqrt(self.good * self.bad)
        return (self.good + self.bad) / 2

    def code(self, value: float) -> int:
        """:data:`GOOD` or :data:`BAD`."""
        return BAD if (value > self.middle) == (self.bad > self.good) else GOOD


@dataclass(frozen=True)
class Culprit:
    """The first bad commit: its id and subject, and the figure at both ends of the search."""

    commit: str
    subject: str
    threshold: Threshold
    log: str


def find(root: Path, good: str, bad: str, probe: Probe, paths: Sequence[str] = ()) -> Culprit:
    """The first commit after ``good`` up to ``bad`` at which the figure is bad, only those that touch ``paths`` if any.

    Measures both ends first, here and now. Raises :class:`HistoryError` for commits that do not exist or lie in the
    wrong order, for ends that cannot be measured or do not differ, and where too much had to be skipped.
    """
    ends = {name: _commit(root, name) for name in (good, bad)}
    if _git(root, "merge-base", "--is-ancestor", ends[good], ends[bad]).returncode:
        raise HistoryError(f"{good} is no ancestor of {bad}: give the older, good commit first")
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        _must(root, "worktree", "add", "--quiet", "--detach", str(tree), ends[bad])
        try:
            worse = _measured(probe, tree, bad)
            _must(tree, "checkout", "--quiet", "--detach", ends[good])
            threshold = Threshold(_measured(probe, tree, good), worse)
            return _bisect(tree, ends[good], ends[bad], probe, threshold, paths)
        finally:
            _git(root, "worktree", "remove", "--force", str(tree))


def step_command(probe: Probe, threshold: Threshold) -> list[str]:
    """One step as ``git bisect run`` takes it."""
    ends = [f"--good-value={threshold.good!r}", f"--bad-value={threshold.bad!r}"]
    # This package, not that of the commit under test, which may be the same project.
    here = str(Path(pytest_roofline.__file__).parent.parent)
    own = f"import sys; sys.path.insert(0, {here!r}); from pytest_roofline.cli import main; main()"
    options = [f"--figure={probe.figure}", *ends, "--", *probe.command]
    return [sys.executable, "-c", own, "history", "step", probe.case, *options]


def _bisect(tree: Path, good: str, bad: str, probe: Probe, threshold: Threshold, paths: Sequence[str]) -> Culprit:
    _must(tree, "bisect", "start", bad, good, *(["--", *paths] if paths else []))
    try:
        ran = _git(tree, "bisect", "run", *step_command(probe, threshold))
        log = _must(tree, "bisect", "log")
        if ran.returncode or "first bad commit:" not in log:
            told = "\n".join((ran.stdout + ran.stderr).strip().splitlines()[-8:])
            raise HistoryError(f"git bisect found no single commit:\n{told}")
        commit = _must(tree, "rev-parse", "refs/bisect/bad").strip()
        subject = _must(tree, "log", "-1", "--format=%s", commit).strip()
    finally:
        _git(tree, "bisect", "reset")
    return Culprit(commit, subject, threshold, log)


def _measured(probe: Probe, tree: Path, name: str) -> float:
    try:
        return probe.measure(tree)
    except UntestableError as error:
        raise HistoryError(f"{probe.case} cannot be measured at {name}: {error}") from error


def _commit(root: Path, name: str) -> str:
    if name.startswith("-"):
        raise HistoryError(f"{name!r} is no commit")
    found = _git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if found.returncode:
        raise HistoryError(f"{root} has no commit {name!r}: {found.stderr.strip() or 'git does not know it'}")
    return found.stdout.strip()


def _must(folder: Path, *arguments: str) -> str:
    done = _git(folder, *arguments)
    if done.returncode:
        raise HistoryError(f"git {' '.join(arguments[:2])} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", *arguments]
    try:
        return subprocess.run(command, cwd=folder, env=_outside(), capture_output=True, text=True, check=False)
    except OSError as error:
        raise HistoryError(f"git cannot be run: {error}") from error


def _outside() -> dict[str, str]:
    """The environment without what a hook of git or a running bisection has put there: it would name another tree."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
