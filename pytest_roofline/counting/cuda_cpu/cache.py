"""Where built modules are kept: one folder per key, published whole, removed when nobody used it for a month."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pytest_roofline.cache import folder as user_cache
from pytest_roofline.cache import locked

MAX_AGE = 30 * 24 * 3600.0  # seconds since the last use
CLEANING_INTERVAL = 24 * 3600.0


def fetch(key: str, build: Callable[[Path], None]) -> Path:
    """The folder of ``key``; ``build`` fills a temporary one that takes its place whole.

    Of two processes that want the same key at the same time one builds and the other waits for it.
    """
    entry = user_cache() / key
    if not _used(entry):
        entry.parent.mkdir(parents=True, exist_ok=True)
        with locked(entry):
            if not _used(entry):
                _clean(entry.parent)
                _publish(entry, build)
    return entry


def _used(entry: Path) -> bool:
    """Whether an entry is there; if so it counts as used now."""
    if not entry.is_dir():
        return False
    with contextlib.suppress(OSError):  # a read-only cache serves all the same
        os.utime(entry)
    return True


def _publish(entry: Path, build: Callable[[Path], None]) -> None:
    temporary = Path(tempfile.mkdtemp(prefix="building-", dir=entry.parent))
    try:
        build(temporary)
        try:
            temporary.rename(entry)
        except OSError:
            if not entry.is_dir():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def clean(folder: Path, now: float, max_age: float = MAX_AGE) -> None:
    """Remove the entries of ``folder`` last used more than ``max_age`` seconds before ``now`` (Unix time)."""
    for entry in folder.iterdir():
        with contextlib.suppress(OSError):  # another process may be cleaning too
            if entry.is_dir() and now - entry.stat().st_mtime > max_age:
                shutil.rmtree(entry, ignore_errors=True)


def _clean(folder: Path) -> None:
    stamp = folder / "cleaned"
    now = time.time()
    with contextlib.suppress(OSError):
        if now - stamp.stat().st_mtime < CLEANING_INTERVAL:
            return
    with contextlib.suppress(OSError):
        stamp.touch()
        clean(folder, now)
