"""Hold back the reports of timed cases until all are judged and suspects retested, so that each test has one outcome,
the last one.

The test itself runs as always. Its reports are logged at the end of the session: with a failure in the report of the
call where the end of the run found one. So summary, JUnit file, ``--lf`` and exit status agree without further ado.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from _pytest.runner import runtestprotocol  # pytest has no public one that does not log; its plugins use this

CASE = pytest.StashKey[str]()
"""Set on the item of a case whose verdict may still change: the case's id."""


@dataclass
class Deferred:
    """Reports of items, in the order in which they ran."""

    items: list[tuple[pytest.Item, Sequence[pytest.TestReport]]] = field(default_factory=list)

    def protocol(self, item: pytest.Item, nextitem: pytest.Item | None, *, always: bool = False) -> bool:
        """Run an item; log its reports if it failed (``always`` defers them even then), else they wait."""
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if always or not any(report.failed for report in reports):
            self.items.append((item, reports))
        else:
            _log(item, reports)
        return True

    def release(self, failure: Callable[[pytest.Item], str | None]) -> None:
        """Log everything held back; ``failure`` says why an item fails, ``None`` if it does not."""
        while self.items:
            item, reports = self.items.pop(0)
            message = failure(item)
            for report in reports:
                if message is not None and report.when == "call" and report.passed:
                    report.outcome = "failed"
                    report.longrepr = message
            _log(item, reports)


def _log(item: pytest.Item, reports: Sequence[pytest.TestReport]) -> None:
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
