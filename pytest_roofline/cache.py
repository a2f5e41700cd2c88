"""Where measurements and compiled kernels of this machine live, and how files get there."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ENVIRONMENT = "PYTEST_ROOFLINE_CACHE"


def folder() -> Path:
    """``PYTEST_ROOFLINE_CACHE``, else ``pytest-roofline`` in the platform's cache directory of the user."""
    chosen = os.environ.get(ENVIRONMENT)
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "pytest-roofline"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pytest-roofline"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Take turns with other processes of this machine that change ``path``; nothing is left beside it.

    Where the system has no such locks (no POSIX) nobody waits.
    """
    if fcntl is None:
        yield
        return
    place = folder() / "locks" / hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:32]
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def folder_locked(place: Path) -> Iterator[None]:
    """Take turns with every process that changes files of this folder, whatever its cache and its machine; creates it.

    Nothing is left in it. Where a folder cannot be locked (some network file systems, no POSIX) processes of this
    machine take turns. Raises ``OSError`` where the folder cannot be made.
    """
    place.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(place, os.O_RDONLY) if fcntl is not None else None
    try:
        if descriptor is not None and _flocked(descriptor):
            yield
        else:
            with locked(place):
                yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _flocked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


def sweep(path: Path) -> None:
    """Remove what killed writers of this file have left beside it; for whoever holds the lock of its folder."""
    for left in path.parent.glob(_temporary(path, "*")):
        left.unlink(missing_ok=True)


def _temporary(path: Path, middle: str) -> str:
    """Names of files on their way to ``path``: hidden, of no kind that anybody reads."""
    return f".{path.name}.{middle}.tmp"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that any reader finds all of it or what was there before; creates its folder.

    A link stays one, and what is no file (a pipe, a device) is written to, not replaced. Raises ``OSError``, which
    names the file, and leaves nothing behind where it cannot be written.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    path = path.resolve() if path.is_symlink() else path
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        prefix, suffix = _temporary(path, "*").split("*")
        file = tempfile.NamedTemporaryFile(  # noqa: SIM115  (closed before it is moved)
            "wb", dir=path.parent, prefix=prefix, suffix=suffix, delete=False
        )
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with file:
            file.write(content)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except BaseException:
        Path(file.name).unlink(missing_ok=True)
        raise
