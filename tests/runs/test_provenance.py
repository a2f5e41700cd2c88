"""Where a run comes from."""

from __future__ import annotations

import re
import subprocess

from pytest_roofline.runs import provenance


def git(folder, *arguments):
    """Run git there."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_the_commit_its_branch_and_changes_on_top(tmp_path):
    """Untracked files are no change of the commit; changed ones are."""
    assert provenance.commit_of(tmp_path) is None
    git(tmp_path, "init", "-b", "work")
    assert provenance.commit_of(tmp_path) is None
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-m", "one")
    (tmp_path / "untracked").write_text("")
    found = provenance.commit_of(tmp_path)
    assert re.fullmatch("[0-9a-f]{40}", found.id)
    assert (found.branch, found.dirty) == ("work", False)
    (tmp_path / "a").write_text("2")
    assert provenance.commit_of(tmp_path).dirty
    git(tmp_path, "checkout", "--detach")
    assert provenance.commit_of(tmp_path).branch is None


def test_without_git_there_is_no_commit(tmp_path, monkeypatch):
    """A machine without git still runs."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.commit_of(tmp_path) is None


def test_two_runs_of_one_second_have_different_names():
    """Many machines begin at once; the name sorts by time."""
    started = "2026-11-30T12:00:00+00:00"
    names = {provenance.new_id(started) for _ in range(100)}
    assert len(names) == 100
    assert all(re.fullmatch("20261130T120000Z-[0-9a-f]{8}", name) for name in names)


def test_only_installed_tools_are_named():
    """A version that nobody has is left out."""
    found = provenance.toolchain(("pytest", "no-such-package-at-all"))
    assert set(found) == {"python", "pytest"}


def test_the_commit_is_that_of_the_folder_in_a_hook_of_another_repository(tmp_path, monkeypatch):
    """Which exports where its own repository lies."""
    for name in ("here", "other"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init", "-b", name)
        git(tmp_path / name, "commit", "--allow-empty", "-m", name)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert provenance.commit_of(tmp_path / "here").branch == "here"
