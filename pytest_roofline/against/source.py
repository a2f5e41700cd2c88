"""A git ref or a directory as a tree of files: what ``--roofline-against`` compares with."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from pytest_roofline.git_environment import own_repository

BASELINE = "baseline"
_FETCH = "fetch all of its history (git fetch --unshallow; in actions/checkout: fetch-depth: 0)"
_LONGEST = 80  # characters of what was asked for that a message repeats


class AgainstError(ValueError):
    """What ``--roofline-against`` names cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Revision:
    """A tree on disk: ``root`` corresponds to the root of the project, ``name`` is for people."""

    root: Path
    name: str
    _export: Path | None = field(default=None, repr=False)

    def close(self) -> None:
        """Remove what was exported from git."""
        if self._export is not None:
            shutil.rmtree(self._export, ignore_errors=True)


def revision(wanted: str, root: Path, baselines: Path | None = None) -> Revision:
    """The directory ``wanted`` (relative to ``root``) or the git ref of that name, exported into a temporary folder.

    A directory goes before a ref of the same name (``refs/heads/x`` names the branch). ``baseline`` is the last commit
    that changed the folder ``baselines``: the kernels beside the accepted results. Raises :class:`AgainstError` for
    what is none of these, for a ref that git cannot export, and for ``baseline`` where the history is cut off: its
    first commit seems to have changed everything.
    """
    if not wanted:
        raise AgainstError("it needs a git ref (HEAD~1, main, a tag, a commit) or a directory")
    folder = root / wanted
    if _is_dir(folder):
        return Revision(folder.resolve(), f"{wanted} (a directory)")
    shallow = _git(root, "rev-parse", "--is-shallow-repository") == "true"
    if wanted == BASELINE and baselines is not None:
        if shallow:
            raise AgainstError(f"which commit changed {baselines} cannot be known in a shallow clone: {_FETCH}")
        commit = _git(root, "log", "-1", "--format=%H", "--", str(baselines)) or None
        if commit is None:
            raise AgainstError(f"no commit has changed {baselines} yet: name a git ref or a directory")
    else:
        commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}")
    if commit is None:
        told = repr(wanted if len(wanted) <= _LONGEST else f"{wanted[:_LONGEST]}...")
        hint = f"; this clone is shallow: {_FETCH}" if shallow else ""
        raise AgainstError(f"{told} is neither a directory below {root} nor a commit that git knows there{hint}")
    below = _git(root, "rev-parse", "--show-prefix") or ""
    export = Path(tempfile.mkdtemp(prefix="roofline-against-"))
    try:
        _checkout(root, commit, export)
    except BaseException:
        shutil.rmtree(export, ignore_errors=True)
        raise
    return Revision(export / "tree" / below, f"{wanted} ({commit[:12]})", export)


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # longer than a path can be
        return False


def _checkout(root: Path, commit: str, export: Path) -> None:
    """All files of a commit, through an index of their own: the working tree, its index and its list of worktrees stay
    as they are, and a killed run leaves nothing behind in the repository."""
    tree = export / "tree"
    tree.mkdir()
    top = _git(root, "rev-parse", "--show-toplevel")
    index = {"GIT_INDEX_FILE": str(export / "index")}
    for arguments in (("read-tree", commit), ("checkout-index", "--all", f"--prefix={tree}/")):
        done = _run(Path(top or root), arguments, index)
        if done.returncode:
            raise AgainstError(f"git {arguments[0]} of {commit[:12]} failed: {done.stderr.strip()}")


def _git(root: Path, *arguments: str) -> str | None:
    """What git prints; ``None`` where it fails. Raises :class:`AgainstError` without git or outside a repository."""
    done = _run(root, arguments)
    if done.returncode == 128 and ("repository" in done.stderr or "ownership" in done.stderr):
        raise AgainstError(f"only a directory can be compared with here, because git says: {done.stderr.strip()}")
    return None if done.returncode else done.stdout.strip()


def _run(
    root: Path, arguments: tuple[str, ...], extra: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            env=own_repository(extra),
            check=False,
        )
    except FileNotFoundError as error:
        raise AgainstError("only a directory can be compared with here: git is not installed") from error
