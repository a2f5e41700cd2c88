"""Where measurements and compiled kernels of this machine live, and how files get there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def folder() -> Path:
    """``PYTEST_ROOFLINE_CACHE``, else the user's cache directory."""
    chosen = os.environ.get("PYTEST_ROOFLINE_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pytest-roofline"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that any reader finds all of it or what was there before; creates its folder.

    Raises ``OSError`` and leaves nothing behind where it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = tempfile.NamedTemporaryFile("wb", dir=path.parent, delete=False)  # noqa: SIM115  (closed before it is moved)
    try:
        with file:
            file.write(content)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except BaseException:
        Path(file.name).unlink(missing_ok=True)
        raise
