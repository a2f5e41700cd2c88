"""The documentation of the command names what there is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")

from typer.main import get_command

from pytest_roofline.cli.app import app

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("cli.md", "history.md", "reports.md")


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with the words that call it."""
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, found in below.items():
        yield from leaves(found, (*path, name))


COMMANDS = dict(leaves(get_command(app)))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_is_documented(path):
    """By its words, on one of the pages about the command."""
    text = "\n".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES)
    assert f"`{path[0]}" in text or f"pytest-roofline {path[0]}" in text
    assert path[-1] in text


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_and_option_says_what_it_does(path):
    """In a first line that fits beside its name, and a help text for each option."""
    command = COMMANDS[path]
    assert command.help.strip()
    undocumented = [p.name for p in command.params if getattr(p, "help", None) in (None, "") and p.name != "help"]
    assert undocumented == []
