"""A Python process of ours from outside: lines to its standard input are orders, marked lines of its output answers."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence

_SAID = 2000  # characters of what a process said on standard error that are repeated


class Child:
    """``python -m module arguments``, which imports what this process can, and what lies in ``roots`` before that.

    An answer is a line that begins with ``mark``; whatever else kernels and compilers print is passed over.
    ``environment`` adds to this process's. The process has a session of its own, so that it can be ended together with
    whatever it started.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        mark: str,
        roots: Sequence[str],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._mark = mark
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed by close())
        path = os.pathsep.join([*roots, *filter(None, sys.path)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=dict(os.environ, PYTHONPATH=path, **(environment or {})),
            text=True,
            start_new_session=True,
        )
        self._orders: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        for work in (self._write, self._read):
            threading.Thread(target=work, daemon=True).start()

    @property
    def pid(self) -> int:
        """Its number in the system."""
        return self._process.pid

    def order(self, line: str) -> None:
        """Send a line to its standard input, without waiting for it to be read."""
        self._orders.put(line)

    def no_more(self) -> None:
        """End its standard input behind what was ordered."""
        self._orders.put(None)

    def answer(self, timeout: float | None = None) -> str | None:
        """Wait for the next answer, without its mark; ``None`` where the process ended before.

        Raises ``queue.Empty`` after ``timeout`` seconds.
        """
        line = self._answers.get(timeout=timeout)
        if line is None:
            self._answers.put(None)
        return line

    def ended(self) -> tuple[int, str]:
        """Wait for its end: its exit code, negative for a signal, and the end of what it said on standard error."""
        code = self._process.wait()
        self._errors.seek(0)
        return code, self._errors.read()[-_SAID:].strip()

    def kill(self) -> None:
        """End it and whatever it started, at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self, patience: float = 0.0) -> None:
        """End it, unless it ends by itself within ``patience`` seconds."""
        self.no_more()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
        self._errors.close()

    def _write(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError), self._process.stdin as pipe:  # where it died, the reader finds out
            while (order := self._orders.get()) is not None:
                pipe.write(order + "\n")
                pipe.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            for line in pipe:
                if line.startswith(self._mark):
                    self._answers.put(line[len(self._mark) :])
        self._answers.put(None)
