"""A git ref or a directory becomes a tree of files, and nothing else changes."""

import os
import subprocess

import pytest

from pytest_roofline.against import AgainstError, revision


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Two commits: x.py says 1, then 2; the tag ``first`` names the first. One file is marked export-ignore."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "repository"
    (folder / "below").mkdir(parents=True)

    def git(*arguments):
        command = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@x", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    git("init", "-q", "-b", "main")
    (folder / ".gitattributes").write_text("kept.txt export-ignore\n")
    (folder / "kept.txt").write_text("")
    for number in (1, 2):
        (folder / "x.py").write_text(f"X = {number}\n")
        (folder / "below" / "y.py").write_text(f"Y = {number}\n")
        git("add", "-A")
        git("commit", "-q", "-m", str(number))
        if number == 1:
            git("tag", "first")
    (folder / "x.py").write_text("X = 3\n")
    return folder, git


def test_a_ref_is_exported_whole(repository):
    """Every file as it was, also what an archive would leave out; the working tree and its index stay."""
    folder, git = repository
    before = git("status", "--porcelain"), git("worktree", "list")
    found = revision("first", folder)
    assert (found.root / "x.py").read_text() == "X = 1\n"
    assert (found.root / "kept.txt").exists()
    assert found.name.startswith("first (")
    assert (git("status", "--porcelain"), git("worktree", "list")) == before
    assert (folder / "x.py").read_text() == "X = 3\n"
    found.close()
    assert not found.root.exists()


@pytest.mark.parametrize("ref", ["HEAD~1", "main~1", "refs/tags/first", "first^{commit}"])
def test_whatever_git_calls_a_commit(repository, ref):
    """Relative, full names."""
    found = revision(ref, repository[0])
    assert (found.root / "x.py").read_text() == "X = 1\n"
    found.close()


def test_the_commit_of_the_baseline(repository):
    """The last one that changed the folder of baselines, whatever came after it."""
    folder, git = repository
    (folder / "baselines").mkdir()
    with pytest.raises(AgainstError, match="no commit has changed"):
        revision("baseline", folder, folder / "baselines")
    (folder / "baselines" / "x.json").write_text("{}")
    git("add", "baselines")
    git("commit", "-q", "-m", "accepted")
    (folder / "x.py").write_text("X = 4\n")
    git("commit", "-q", "-am", "later")
    found = revision("baseline", folder, folder / "baselines")
    assert (found.root / "x.py").read_text() == "X = 2\n"
    found.close()


def test_a_project_below_the_top_of_its_repository(repository):
    """The root of the tree corresponds to the root of the project."""
    found = revision("first", repository[0] / "below")
    assert (found.root / "y.py").read_text() == "Y = 1\n"
    found.close()


def test_a_directory_is_taken_as_it_is(repository):
    """Relative to the project; it goes before a ref of the same name, and closing leaves it alone."""
    folder, _ = repository
    (folder / "first").mkdir()
    found = revision("first", folder)
    found.close()
    assert found.root == folder / "first"
    assert found.root.is_dir()
    exported = revision("refs/tags/first", folder)
    assert exported.root != found.root
    exported.close()


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("", "a git ref"),
        ("nowhere", "neither a directory"),
        ("--output=x", "neither a directory"),
        ("-h", "neither a directory"),
        ("first:x.py", "neither a directory"),
    ],
)
def test_what_names_nothing_is_refused(repository, wanted, words):
    """With what it would have to be; nothing that looks like an option reaches git as one."""
    with pytest.raises(AgainstError, match=words):
        revision(wanted, repository[0])
    assert not (repository[0] / "x").exists()


def test_outside_a_repository_only_a_directory_will_do(tmp_path):
    """The message says so, with git's own reason."""
    with pytest.raises(AgainstError, match="only a directory"):
        revision("main", tmp_path)


def test_without_git_only_a_directory_will_do(tmp_path, monkeypatch):
    """The same where git is not installed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AgainstError, match="git is not installed"):
        revision("main", tmp_path)
    (tmp_path / "old").mkdir()
    assert revision("old", tmp_path).root == tmp_path / "old"


@pytest.fixture
def shallow(repository, tmp_path):
    """A clone of the last commit alone, in which the baselines were changed before."""
    folder, git = repository
    (folder / "baselines").mkdir()
    (folder / "baselines" / "x.json").write_text("{}")
    git("add", "baselines")
    git("commit", "-q", "-m", "accepted")
    git("commit", "-q", "-am", "later")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth=1", folder.as_uri(), str(clone)], check=True, capture_output=True)
    return clone


def test_the_commit_of_the_baseline_is_unknown_in_a_shallow_clone(shallow):
    """There the last commit seems to have changed everything, so new kernels would be compared with themselves."""
    with pytest.raises(AgainstError, match=r"shallow clone: .*git fetch --unshallow.*fetch-depth: 0"):
        revision("baseline", shallow, shallow / "baselines")
    revision("HEAD", shallow).close()


def test_a_shallow_clone_says_why_it_lacks_a_commit(shallow):
    """Most likely it was just not fetched."""
    with pytest.raises(AgainstError, match=r"'HEAD~1' is neither.*shallow: fetch all"):
        revision("HEAD~1", shallow)


def test_the_repository_of_the_project_is_the_one_it_lies_in(repository, tmp_path, monkeypatch):
    """Not the one whose hook runs pytest, which exports where that lies."""
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    found = revision("first", repository[0])
    assert (found.root / "x.py").read_text() == "X = 1\n"
    found.close()


def test_a_name_longer_than_any_path_is_refused(repository):
    """With its beginning."""
    with pytest.raises(AgainstError, match=r"'x{80}\.\.\.' is neither"):
        revision("x" * 5000, repository[0])
