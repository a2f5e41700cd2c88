"""Tell how far a benchmark run and its retest are, on a terminal and in a log alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

SILENCE = 5.0  # seconds between lines of a log about single cases


@dataclass
class Progress:
    """Writes lines about ``what`` with the seconds since the start; on a terminal each overwrites the one before.

    Says nothing where there is no reporter (a distributed worker) or nothing shall be said (``-q -q``).
    """

    config: pytest.Config
    what: str
    clock: Callable[[], float] = time.monotonic
    _start: float = field(init=False)
    _last: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._start = self.clock()

    def tell(self, text: str) -> None:
        """A step of the run: always written."""
        self._write(text, self.clock())

    def tick(self, text: str) -> None:
        """One case of many: in a log a line every few seconds, with ``-v`` one for each."""
        now = self.clock()
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        each = self.config.get_verbosity() > 0 or (reporter is not None and reporter.isatty)
        if each or self._last is None or now - self._last >= SILENCE:
            self._write(text, now)

    def _write(self, text: str, now: float) -> None:
        self._last = now
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or self.config.get_verbosity() < -1:
            return
        line = f"roofline: {self.what}: {text} ({now - self._start:.0f} s)"
        reporter.ensure_newline()
        if reporter.isatty:
            reporter.rewrite(line, erase=True)
        else:
            reporter.write_line(line)
        reporter.flush()  # a log is read while it grows
