"""A folder and an object store behave alike."""

from __future__ import annotations

import sys

import pytest

from pytest_roofline.history import HistoryError
from pytest_roofline.history.places import LocalPlace, open_place


def test_files_are_written_listed_read_and_removed(where, tmp_path):
    """Removing what is gone is no error; a folder that does not exist holds nothing; nothing temporary is left."""
    place = open_place(where)
    assert place.names("runs") == []
    place.write("runs/b.parquet", b"one")
    (tmp_path / "local").write_bytes(b"two")
    place.put("runs/a.parquet", tmp_path / "local")
    place.write("runs/b.parquet", b"three")
    assert place.names("runs") == ["runs/a.parquet", "runs/b.parquet"]
    assert (place.read("runs/a.parquet"), place.read("runs/b.parquet")) == (b"two", b"three")
    place.remove(["runs/a.parquet", "runs/a.parquet"])
    assert place.names("runs") == ["runs/b.parquet"]


def test_a_path_and_a_file_url_are_the_same_folder(tmp_path):
    """No package is needed for either."""
    for name in (str(tmp_path), f"file://{tmp_path}", tmp_path):
        place = open_place(name)
        assert isinstance(place, LocalPlace)
        assert place.root == tmp_path


def test_an_unknown_protocol_is_named():
    """With what fsspec says about it."""
    pytest.importorskip("fsspec")
    with pytest.raises(HistoryError, match="nonsense://x cannot be opened"):
        open_place("nonsense://x")


def test_without_the_package_the_extra_is_named(monkeypatch):
    """How to install it stands in the message."""
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(HistoryError, match=r"pip install 'pytest-roofline\[history\]'"):
        open_place("s3://bucket/path")
