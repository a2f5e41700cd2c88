"""Printing at the edge: styles of :mod:`pytest_roofline.reports.styled` through rich, which knows ``NO_COLOR``.

What is printed comes from files: control characters in it are shown as ``?``, never sent to the terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from pytest_roofline import cache
from pytest_roofline.reports.styled import BAD, DOUBTFUL, FAINT, GOOD, HEAD, PLAIN, Line, texts
from pytest_roofline.reports.terminal import WIDTH

_STYLES = {PLAIN: "", BAD: "bold red", DOUBTFUL: "yellow", GOOD: "green", FAINT: "dim", HEAD: "bold"}


def show(lines: Iterable[Line | str]) -> None:
    """Print lines; none is wrapped or cut."""
    console = _console()
    for line in lines:
        text = Text()
        for part, style in [(line, PLAIN)] if isinstance(line, str) else [(s.text, s.style) for s in line]:
            text.append(printable(part), _STYLES[style])
        text.rstrip()
        console.print(text, soft_wrap=True)


def width() -> int:
    """Columns to fill: those of the terminal, 80 in a pipe."""
    console = _console()
    return console.width if console.is_terminal else WIDTH


def is_ascii() -> bool:
    """Whether the output has no room for other characters."""
    return not (sys.stdout.encoding or "ascii").lower().startswith("utf")


def printable(text: str) -> str:
    """Text without control characters, which could move the cursor or colour what follows."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def deliver(text: str, output: Path | None) -> None:
    """Write a document to a file, atomically, or to standard output as it is."""
    if output is None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            _nobody_reads()
        return
    cache.write_atomically(output, text.encode())
    show([f"wrote {output}"])


def tell(lines: Iterable[Line], output: Path | None) -> None:
    """Print lines, or write them to a file without their styles."""
    if output is None:
        show(lines)
    else:
        deliver("".join(f"{printable(found)}\n" for found in texts(lines)), output)


def complain(message: str) -> None:
    """Say on standard error what is wrong."""
    print(f"pytest-roofline: {printable(message)}", file=sys.stderr)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Whoever reads only the first lines is no error, and must not change the exit code."""
        _nobody_reads()


def _console() -> Console:
    return _Console(highlight=False, markup=False, emoji=False)


def _nobody_reads() -> None:
    """Let whatever is still printed vanish."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
