"""Worker processes seen from outside: how they are fed, read and ended."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence

from pytest_roofline.evidence import CaseSpec, Evidence, Outcome, from_plain, to_plain

MARK = "pytest-roofline evidence: "
"""What a line of evidence on a worker's standard output begins with."""


class Batch:
    """A process that works through several orders."""

    def __init__(self, specs: Sequence[CaseSpec], environment: Mapping[str, str]) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed by __exit__)
        path = os.pathsep.join([*specs[0].roots, *filter(None, sys.path)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest_roofline.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=dict(os.environ, PYTHONPATH=path, **environment),
            text=True,
            start_new_session=True,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died at once; next() says so
            self._process.stdin.write(json.dumps([to_plain(spec) for spec in specs]))
            self._process.stdin.close()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._process.wait(timeout=0 if sys.exc_info()[0] else 10)
        except subprocess.TimeoutExpired:
            self._kill()
        self._errors.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(MARK):
                self._lines.put(line[len(MARK) :])
        self._lines.put(None)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def next(self, spec: CaseSpec, timeout: float) -> Evidence:
        """The evidence of the next case, which is that of ``spec``."""
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            self._kill()
            return Evidence(spec.case, Outcome.HUNG, f"the case did not end within {timeout:g} s and was killed")
        if line is not None:
            return from_plain(Evidence, json.loads(line))
        self._process.wait()
        self._errors.seek(0)
        return died(spec, self._process.returncode, self._errors.read())


def died(spec: CaseSpec, code: int, errors: str) -> Evidence:
    """Evidence of a case whose process ended with that code, and the end of what it said."""
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    detail = f"the process that ran the case died ({how}):\n{errors[-2000:].strip()}"
    return Evidence(spec.case, Outcome.CRASHED, detail)
