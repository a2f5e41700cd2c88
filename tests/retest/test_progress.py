"""Progress of a retest: a line that overwrites itself on a terminal, lines in a log."""

from types import SimpleNamespace

import pytest

from pytest_roofline.retest.progress import teller


class Reporter:
    """pytest's terminal reporter, as far as it is used."""

    def __init__(self, isatty):
        self.isatty, self.written = isatty, []

    def rewrite(self, text, **markup):
        """Overwrite the line."""
        self.written.append(("rewrite", text, markup))

    def ensure_newline(self):
        """Leave the line of dots."""
        self.written.append("newline")

    def write_line(self, text):
        """A line of its own."""
        self.written.append(text)


def config(reporter, verbosity=0):
    """A configuration with that reporter."""
    manager = SimpleNamespace(get_plugin=lambda name: reporter if name == "terminalreporter" else None)
    return SimpleNamespace(pluginmanager=manager, get_verbosity=lambda: verbosity)


@pytest.mark.parametrize(
    ("isatty", "expected"),
    [
        (True, [("rewrite", "roofline: retest: x (3 s)", {"erase": True})]),
        (False, ["newline", "roofline: retest: x (3 s)"]),
    ],
)
def test_a_terminal_and_a_log(isatty, expected):
    """Both are told, with the seconds so far."""
    reporter, times = Reporter(isatty), iter([10.0, 13.2])
    teller(config(reporter), lambda: next(times))("x")
    assert reporter.written == expected


def test_who_wants_silence_gets_it():
    """-q -q, or a worker without a reporter."""
    reporter = Reporter(False)
    teller(config(reporter, -2))("x")
    teller(config(None))("x")
    assert reporter.written == []
