"""The section as pytest prints it: colours where it prints colours, ASCII where nothing else can be shown."""

from __future__ import annotations

import pytest

from tests.absent_gpu import alike


@pytest.fixture
def row(project, monkeypatch):
    """``row(arguments, **environment)`` runs the project on a GPU that is not there; its one row, and all lines."""
    pytester = project()
    pytester.makeconftest(alike(50e-6))
    for name in ("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "PYTHONIOENCODING"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        lines = pytester.runpytest_subprocess("--benchmark-only", "--roofline-ceilings=off", *arguments).outlines
        (found,) = [line for line in lines if "    host/plain " in line]
        return found, lines

    return run


@pytest.mark.parametrize(("environment", "coloured"), [({}, False), ({"NO_COLOR": "1"}, False), ({}, True)])
def test_colours_follow_pytests(row, environment, coloured):
    """None in a pipe and none with NO_COLOR; the words are there in every case."""
    found, lines = row(**environment, **({"FORCE_COLOR": "1"} if coloured or environment else {}))
    assert "new" in found
    assert ("\x1b[1mnegate: y = -x\x1b[0m" in lines) == coloured
    assert ("negate: y = -x" in lines) == (not coloured)


def test_a_terminal_without_blocks_gets_ascii(row):
    """The sign of an interval, not an escape sequence for it."""
    row("--roofline-update")
    found, _ = row(PYTHONIOENCODING="ascii")
    assert "+0.0+-" in found
    assert found.isascii()
    assert "\\" not in found
