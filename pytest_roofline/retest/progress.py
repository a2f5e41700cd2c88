"""Tell how far a retest is, on a terminal and in a log alike."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest


def teller(config: pytest.Config, clock: Callable[[], float] = time.monotonic) -> Callable[[str], None]:
    """A function that writes a line with the seconds since the start; on a terminal each overwrites the one before.

    Says nothing where there is no reporter (a distributed worker) or nothing shall be said (``-q -q``).
    """
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    start = clock()

    def tell(text: str) -> None:
        if reporter is None or config.get_verbosity() < -1:
            return
        line = f"roofline: retest: {text} ({clock() - start:.0f} s)"
        if reporter.isatty:
            reporter.rewrite(line, erase=True)
        else:
            reporter.ensure_newline()
            reporter.write_line(line)

    return tell
