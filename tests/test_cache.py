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


@pytest.mark.parametrize("refused", [False, True])
def test_processes_with_caches_of_their_own_take_turns_in_a_folder(tmp_path, refused):
    """The folder itself is what is locked, and nothing is left in it; where a system cannot lock folders, processes of
    one cache take turns."""
    import subprocess
    import sys

    path = tmp_path / "files" / "file"
    cache.write_atomically(path, b"0")
    code = (
        "import pathlib, sys\nfrom pytest_roofline import cache\npath = pathlib.Path(sys.argv[1])\n"
        + "cache._flocked = lambda descriptor: False\n" * refused
        + "for _ in range(50):\n    with cache.folder_locked(path.parent):\n        n = int(path.read_text())\n"
        "        cache.write_atomically(path, str(n + 1).encode())\n"
    )

    def start(number):
        own = tmp_path / ("cache" if refused else f"cache{number}")
        environment = {**os.environ, "PYTEST_ROOFLINE_CACHE": str(own)}
        return subprocess.Popen([sys.executable, "-c", code, str(path)], env=environment)

    assert [process.wait() for process in [start(0), start(1)]] == [0, 0]
    assert path.read_text() == "100"
    assert list(path.parent.iterdir()) == [path]


def test_what_a_killed_writer_left_is_swept_away(tmp_path):
    """It is hidden, and of this file alone."""
    import subprocess
    import sys

    code = (
        "import os, pathlib, sys\nfrom pytest_roofline import cache\n"
        "os.replace = lambda *_: os.kill(os.getpid(), 9)\ncache.write_atomically(pathlib.Path(sys.argv[1]), b'new')\n"
    )
    for name in ("a.json", "b.json"):
        assert subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], check=False).returncode == -9
    left = {path.name for path in tmp_path.iterdir()}
    assert len(left) == 2
    assert all(name.startswith(".") and not name.endswith(".json") for name in left)
    cache.sweep(tmp_path / "a.json")
    assert [path.name.startswith(".b.json.") for path in tmp_path.iterdir()] == [True]
