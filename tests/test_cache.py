"""Files get to their place whole or not at all."""

import os

import pytest

from pytest_roofline import cache


def test_a_file_is_written_whole_and_readable(tmp_path):
    """Its folder is made, everybody may read it, and nothing else lies beside it."""
    path = tmp_path / "new" / "file"
    for content in (b"old", b"newer"):
        cache.write_atomically(path, content)
        assert path.read_bytes() == content
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("step", ["replace", "chmod"])
def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch, step):
    """The error is the caller's, the old file is untouched, and no temporary file stays behind."""
    path = tmp_path / "file"
    cache.write_atomically(path, b"old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="disk full"):
        cache.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_takes_no_file_is_said_with_the_file_that_was_wanted(tmp_path, monkeypatch):
    """Not with the name of a temporary one."""

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", str(tmp_path / "tmpabc"))

    monkeypatch.setattr(cache.tempfile, "NamedTemporaryFile", refuse)
    with pytest.raises(PermissionError) as caught:
        cache.write_atomically(tmp_path / "report.html", b"")
    assert caught.value.filename == str(tmp_path / "report.html")


def test_content_that_is_no_bytes_leaves_nothing(tmp_path):
    """Also a mistake of the caller does."""
    with pytest.raises(TypeError):
        cache.write_atomically(tmp_path / "file", "text")
    assert list(tmp_path.iterdir()) == []


def test_processes_that_change_a_file_take_turns(tmp_path, monkeypatch):
    """Who comes second waits until the first is done; beside the file nothing is left."""
    import subprocess
    import sys

    monkeypatch.setenv("PYTEST_ROOFLINE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "file"
    path.write_text("0")
    code = (
        "import pathlib, sys\nfrom pytest_roofline import cache\npath = pathlib.Path(sys.argv[1])\n"
        "for _ in range(50):\n    with cache.locked(path):\n        n = int(path.read_text())\n"
        "        cache.write_atomically(path, str(n + 1).encode())\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert path.read_text() == "100"
    assert [p.name for p in tmp_path.iterdir() if p.name != "cache"] == ["file"]


def test_a_link_stays_a_link(tmp_path):
    """What it points to gets the content, as with the shell's redirection."""
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "report", tmp_path / "report"
    target.write_bytes(b"old")
    link.symlink_to(target)
    cache.write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_to(tmp_path):
    """Its reader gets the content; the pipe is still there."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        cache.write_atomically(pipe, b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_folder_is_named(tmp_path):
    """It is no place for a file's content, and is left as it is."""
    with pytest.raises(IsADirectoryError) as caught:
        cache.write_atomically(tmp_path, b"content")
    assert caught.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []
