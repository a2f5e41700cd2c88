"""Where a store lies: a folder of this machine, or anything that fsspec reaches (``s3://``, ``memory://`` …)."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from pytest_roofline import cache
from pytest_roofline.history import HistoryError, require

_URL = re.compile(r"(?P<protocol>[a-z][a-z0-9+.-]+)://(?P<path>.*)")


class Place(Protocol):
    """Files by name below one root; names have ``/`` between their parts. All raise ``OSError``."""

    def names(self, folder: str) -> list[str]:
        """The names of all files directly in a folder, sorted; none if there is no such folder."""

    def read(self, name: str) -> bytes:
        """The content of a file."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file so that any reader finds all of it or none."""

    def put(self, name: str, path: Path) -> None:
        """The same with the content of a file of this machine, which may be large."""

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone already are no error."""

    def address(self, name: str) -> str:
        """What DuckDB opens the file under."""

    def introduce(self, connection: Any) -> None:
        """Let a connection of DuckDB reach this place."""


def open_place(where: str | Path) -> Place:
    """The place that a path or URL names. Raises :class:`HistoryError` for a URL that fsspec does not know."""
    found = _URL.fullmatch(str(where))
    if found is None or found["protocol"] == "file":
        return LocalPlace(Path(found["path"] if found else where))
    fsspec = require("fsspec")
    try:
        system, path = fsspec.core.url_to_fs(str(where))
    except (ValueError, ImportError) as error:
        raise HistoryError(f"{where} cannot be opened: {error}") from error
    return RemotePlace(system, path.rstrip("/"), found["protocol"])


class LocalPlace:
    """A folder of this machine; it is created with the first file."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __str__(self) -> str:
        return str(self.root)

    def names(self, folder: str) -> list[str]:
        """See :class:`Place`."""
        path = self.root / folder
        return sorted(f"{folder}/{p.name}" for p in path.iterdir() if p.is_file()) if path.is_dir() else []

    def read(self, name: str) -> bytes:
        """See :class:`Place`."""
        return (self.root / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """See :class:`Place`."""
        cache.write_atomically(self.root / name, content)

    def put(self, name: str, path: Path) -> None:
        """See :class:`Place`."""
        target = self.root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.root) as folder:
            os.replace(shutil.copy(path, folder), target)

    def remove(self, names: Iterable[str]) -> None:
        """See :class:`Place`."""
        for name in names:
            (self.root / name).unlink(missing_ok=True)

    def address(self, name: str) -> str:
        """See :class:`Place`."""
        return str(self.root / name)

    def introduce(self, connection: Any) -> None:
        """See :class:`Place`: nothing to do."""


class RemotePlace:
    """A folder in a file system of fsspec, where writing an object replaces all of it at once."""

    def __init__(self, system: Any, root: str, protocol: str) -> None:
        self.system, self.root, self.protocol = system, root, protocol

    def __str__(self) -> str:
        return f"{self.protocol}://{self.root.lstrip('/')}"

    def names(self, folder: str) -> list[str]:
        """See :class:`Place`."""
        self.system.invalidate_cache()  # another runner may have written since
        try:
            found = self.system.ls(f"{self.root}/{folder}", detail=False)
        except FileNotFoundError:
            return []
        return sorted(f"{folder}/{name.rsplit('/', 1)[-1]}" for name in found)

    def read(self, name: str) -> bytes:
        """See :class:`Place`."""
        return bytes(self.system.cat_file(f"{self.root}/{name}"))

    def write(self, name: str, content: bytes) -> None:
        """See :class:`Place`."""
        self.system.makedirs(f"{self.root}/{name}".rsplit("/", 1)[0], exist_ok=True)
        self.system.pipe_file(f"{self.root}/{name}", content)

    def put(self, name: str, path: Path) -> None:
        """See :class:`Place`."""
        self.system.makedirs(f"{self.root}/{name}".rsplit("/", 1)[0], exist_ok=True)
        self.system.put_file(str(path), f"{self.root}/{name}")

    def remove(self, names: Iterable[str]) -> None:
        """See :class:`Place`."""
        for name in names:
            try:
                self.system.rm_file(f"{self.root}/{name}")
            except FileNotFoundError:
                continue

    def address(self, name: str) -> str:
        """See :class:`Place`."""
        return f"{self.protocol}://{self.root.lstrip('/')}/{name}"

    def introduce(self, connection: Any) -> None:
        """See :class:`Place`."""
        connection.register_filesystem(self.system)
