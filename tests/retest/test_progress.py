"""Progress of a run and its retest: a line that overwrites itself on a terminal, lines in a log."""

from types import SimpleNamespace

import pytest

from pytest_roofline.retest.progress import Progress


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

    def flush(self):
        """Hand it to the system."""
        self.written.append("flush")


def config(reporter, verbosity=0):
    """A configuration with that reporter."""
    manager = SimpleNamespace(get_plugin=lambda name: reporter if name == "terminalreporter" else None)
    return SimpleNamespace(pluginmanager=manager, get_verbosity=lambda: verbosity)


@pytest.mark.parametrize(
    ("isatty", "expected"),
    [
        (True, ["newline", ("rewrite", "roofline: retest: x (3 s)", {"erase": True}), "flush"]),
        (False, ["newline", "roofline: retest: x (3 s)", "flush"]),
    ],
)
def test_a_terminal_and_a_log(isatty, expected):
    """Both are told at once, with the seconds so far."""
    reporter, times = Reporter(isatty), iter([10.0, 13.2])
    Progress(config(reporter), "retest", lambda: next(times)).tell("x")
    assert reporter.written == expected


@pytest.mark.parametrize(
    ("isatty", "verbosity", "told"),
    [(False, 0, ["0", "5", "6"]), (True, 0, list("0123456")), (False, 1, list("0123456"))],
)
def test_single_cases_do_not_flood_a_log(isatty, verbosity, told):
    """One of them every five seconds, a second each; all of them on a terminal and with -v; a step always."""
    reporter, times = Reporter(isatty), iter([0.0, *map(float, range(7))])
    progress = Progress(config(reporter, verbosity), "timing", lambda: next(times))
    for number in range(6):
        progress.tick(str(number))
    progress.tell("6")
    lines = [found[1] if isatty else found for found in reporter.written if "timing" in str(found)]
    assert [line.split()[2] for line in lines] == told


def test_who_wants_silence_gets_it():
    """-q -q, or a worker without a reporter."""
    reporter = Reporter(False)
    Progress(config(reporter, -2), "retest").tell("x")
    Progress(config(None), "retest").tell("x")
    Progress(config(None), "retest").tick("x")
    assert reporter.written == []
