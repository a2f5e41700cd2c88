"""Worker processes seen from outside: how they are fed, read and ended."""

from __future__ import annotations

import json
import queue
import signal
from collections.abc import Mapping, Sequence

from pytest_roofline.child import Child
from pytest_roofline.evidence import CaseSpec, Evidence, Outcome, from_plain, to_plain

MARK = "pytest-roofline evidence: "
"""What a line of evidence on a worker's standard output begins with."""

_PATIENCE = 10.0  # seconds that a worker has to give back what it took after its last case


class Batch:
    """A process that works through one or several orders. Left with an exception, Ctrl-C among them, it is killed."""

    def __init__(self, specs: Sequence[CaseSpec], environment: Mapping[str, str] | None = None) -> None:
        self._child = Child("pytest_roofline.worker", mark=MARK, roots=specs[0].roots, environment=environment)
        self._child.order(json.dumps([to_plain(spec) for spec in specs]))
        self._child.no_more()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._child.close(_PATIENCE if kind is None else 0.0)

    def next(self, spec: CaseSpec, timeout: float) -> Evidence:
        """The evidence of the next case, which is that of ``spec``; after ``timeout`` seconds the process is killed."""
        try:
            line = self._child.answer(timeout)
        except queue.Empty:
            self._child.kill()
            detail = f"the case did not end within {timeout:g} s and was killed"
            return Evidence(spec.case, Outcome.HUNG, detail, timed_out=True)
        return _died(spec, *self._child.ended()) if line is None else from_plain(Evidence, json.loads(line))


def _died(spec: CaseSpec, code: int, said: str) -> Evidence:
    """Evidence of a case whose process ended with that code, and the end of what it said."""
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return Evidence(spec.case, Outcome.CRASHED, f"the process that ran the case died ({how}):\n{said}")
