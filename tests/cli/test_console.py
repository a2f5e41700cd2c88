"""What reaches the terminal."""

from __future__ import annotations

import io
import sys

import pytest

pytest.importorskip("rich")

from pytest_roofline.cli import console
from pytest_roofline.reports.styled import BAD, Segment, line


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        """It is."""
        return True


def test_control_characters_never_reach_the_terminal(capsys):
    """A name in a file could move the cursor or hide what follows."""
    console.show(["a\x1b[31mb\rc\x07", line(Segment("d\x9be", BAD))])
    console.complain("x\x1b[2J")
    out, err = capsys.readouterr()
    assert out == "a?[31mb?c?\nd?e\n"
    assert "\x1b" not in err


def test_markup_in_names_is_text(capsys):
    """Square brackets are no colours of rich."""
    console.show(["[red]x[/red] :smile:", "y" * 300])
    assert capsys.readouterr().out == "[red]x[/red] :smile:\n" + "y" * 300 + "\n"


@pytest.mark.parametrize(("no_color", "coloured"), [(None, True), ("1", False)])
def test_colour_only_on_a_terminal_that_wants_it(monkeypatch, no_color, coloured):
    """NO_COLOR holds; the word is there either way."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys, "stdout", Terminal())
    console.show([line(Segment("regression", BAD))])
    shown = sys.stdout.getvalue()
    assert "regression" in shown
    assert ("31m" in shown) == coloured


def test_documents_are_written_whole(tmp_path, capsys):
    """As they are to standard output, or into a file and a line that says so."""
    console.deliver("a\x1bb\n", None)
    assert capsys.readouterr().out == "a\x1bb\n"
    console.deliver("text", tmp_path / "below" / "x.md")
    assert (tmp_path / "below" / "x.md").read_text() == "text"
    assert capsys.readouterr().out.startswith("wrote ")
