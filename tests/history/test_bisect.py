"""Bisection: the first bad commit, found in a worktree of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_roofline.history import HistoryError
from pytest_roofline.history.bisect import BAD, GOOD, Probe, Threshold, UntestableError, find
from pytest_roofline.runs import save
from tests.history.conftest import CASE
from tests.runs.made import made_counted, made_run

pytest.importorskip("typer", reason="each commit is tried by the command: pip install 'pytest-roofline[cli]'")

# Stands for pytest: "times" the case as the kernel of the commit says, or fails where that is broken.
MEASURE = """
import json, sys
template, file = sys.argv[1:]
seconds = float(open("kernel.txt").read())
run = json.load(open(template))
times = run["cases"][0]["times"]
times["seconds"] = times["bracket"]["seconds"] = seconds
json.dump(run, open(file, "w"))
"""


def git(folder, *arguments):
    """Run git there and return what it prints."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """``repository(values)`` commits a kernel per value and returns the folder and the commits."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init")
    (root / "measure.py").write_text(MEASURE)

    def make(values):
        commits = []
        for value in values:
            (root / "kernel.txt").write_text(str(value))
            (root / "count.txt").write_text(str(len(commits)))
            git(root, "add", ".")
            git(root, "commit", "-m", f"kernel of {value}")
            commits.append(git(root, "rev-parse", "HEAD"))
        return root, commits

    return make


@pytest.fixture
def probe(tmp_path):
    """How the case is measured there."""
    template = save(made_run({CASE: 1.0}), tmp_path / "template.json")
    return Probe(CASE, command=(sys.executable, "measure.py", str(template), "{file}"))


def test_the_first_bad_commit_is_found_and_the_checkout_is_left_alone(repository, probe):
    """Ten commits, of which the seventh made it slower; an unclean checkout stays as it is."""
    root, commits = repository([1e-6] * 6 + [1.3e-6] * 4)
    (root / "kernel.txt").write_text("being edited")
    found = find(root, commits[0], "HEAD", probe)
    assert found.commit == commits[6]
    assert found.subject == "kernel of 1.3e-06"
    assert (found.threshold.good, found.threshold.bad) == (1e-6, 1.3e-6)
    assert git(root, "status", "--porcelain") == "M kernel.txt"
    assert git(root, "rev-parse", "HEAD") == commits[-1]
    assert len(git(root, "worktree", "list").splitlines()) == 1
    assert not (root / ".git" / "BISECT_LOG").exists()


def test_what_became_faster_is_found_as_well(repository, probe):
    """Good and bad are only the two ends."""
    root, commits = repository([2e-6, 2e-6, 1e-6, 1e-6])
    assert find(root, commits[0], commits[-1], probe).commit == commits[2]


def test_commits_that_cannot_be_measured_are_skipped(repository, probe):
    """As long as they do not hide the culprit."""
    root, commits = repository([1e-6, 1e-6, "broken", 1e-6, 2e-6, 2e-6])
    assert find(root, commits[0], commits[-1], probe).commit == commits[4]
    root, commits = repository([1e-6, "broken", "broken again", 2e-6])
    with pytest.raises(HistoryError, match="git bisect found no single commit"):
        find(root, commits[0], commits[-1], probe)


def test_only_commits_that_touch_the_paths_are_tried(repository, probe):
    """The commit that changed the kernel's file, not its neighbours."""
    root, _ = repository([1e-6])
    good = git(root, "rev-parse", "HEAD")
    (root / "docs.txt").write_text("x")
    git(root, "add", ".")
    git(root, "commit", "-m", "docs")
    _, commits = repository([3e-6])
    assert find(root, good, "HEAD", probe, ("kernel.txt",)).commit == commits[0]


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        (0, 1, "both ends are alike"),
        (2, 0, "is no ancestor of"),
        ("nothing", 2, "has no commit 'nothing'"),
        ("--help", 2, "'--help' is no commit"),
        (0, 3, "cannot be measured at"),
    ],
)
def test_ends_that_make_no_sense_are_refused(repository, probe, good, bad, message):
    """Before anything is bisected, and no worktree is left."""
    root, commits = repository([1e-6, 1.001e-6, 2e-6, "broken"])
    ends = [commits[end] if isinstance(end, int) else end for end in (good, bad)]
    with pytest.raises(HistoryError, match=message):
        find(root, *ends, probe)
    assert len(git(root, "worktree", "list").splitlines()) == 1


def test_the_middle_is_geometric_and_includes_zero():
    """Twice as slow lies as far as half; counts may begin at none."""
    assert Threshold(1e-6, 4e-6).middle == pytest.approx(2e-6)
    assert Threshold(0, 64).middle == 32
    assert [Threshold(1e-6, 4e-6).code(x) for x in (1.9e-6, 2.1e-6)] == [GOOD, BAD]
    assert [Threshold(4e-6, 1e-6).code(x) for x in (1.9e-6, 2.1e-6)] == [BAD, GOOD]


@pytest.mark.parametrize(
    ("run", "case", "figure", "message"),
    [
        (made_run({CASE: 1e-6}), "copy/cuda/other/f32/8", "seconds", "the run has no copy/cuda/other"),
        (made_run({CASE: 1e-6}), CASE, "sectors", "has no sectors here; it has seconds"),
        (made_counted({CASE: 8}), CASE, "seconds", "has no seconds here; it has launches"),
    ],
)
def test_a_run_that_says_nothing_of_the_figure_is_untestable(tmp_path, run, case, figure, message):
    """Git then skips the commit instead of calling it good or bad."""
    made = save(run, tmp_path / "made.json")
    copy = (sys.executable, "-c", "import shutil, sys; shutil.copy(*sys.argv[1:])", str(made), "{file}")
    with pytest.raises(UntestableError, match=message):
        Probe(case, figure, copy).measure(tmp_path)


def test_a_command_that_does_not_exist_is_untestable(tmp_path):
    """Its name stands in the message."""
    with pytest.raises(UntestableError, match="no-such-command"):
        Probe(CASE, command=("no-such-command",)).measure(tmp_path)
