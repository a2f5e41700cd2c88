"""Ask the processes that compile, from a session that goes on counting meanwhile."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_roofline.child import Child
from pytest_roofline.counting.compiled.process import MARK


class CompilingError(RuntimeError):
    """The process died; the message holds the end of what it said."""


class Compiler:
    """Compiles for one architecture, in a process for each language: they share no kernel, and each takes a core.

    A process starts with the first order of its language. Orders are answered while this process does other things.
    """

    def __init__(self, arch: str, roots: Sequence[str]) -> None:
        self.arch = arch
        self._roots = list(roots)
        self._processes: dict[str, _Process] = {}

    def ask(self, case: str, module: str, *, against: str = "", gpu: bool = False) -> None:
        """Order one case, once; its kernel is that of the tree ``against``, where one is named. With ``gpu`` its
        launcher sees a GPU of that architecture, as where it is timed, else the CPU that counts it."""
        language = case.split("/")[1]
        if language not in self._processes:
            self._processes[language] = _Process(self.arch, self._roots)
        self._processes[language].ask({"case": case, "module": module, "against": against, "gpu": gpu})

    def answer(self, case: str) -> Mapping[str, Any]:
        """Wait for the answer about a case that was ordered. Raises :class:`CompilingError`, ``KeyError``."""
        return self._processes[case.split("/")[1]].answer(case)

    def close(self) -> None:
        """End the processes."""
        for process in self._processes.values():
            process.close()


class _Process:
    """One of them. Orders are answered in their order."""

    def __init__(self, arch: str, roots: Sequence[str]) -> None:
        self.arch = arch
        self._roots = list(roots)
        self._child = Child("pytest_roofline.counting.compiled.process", arch, mark=MARK, roots=roots)
        self._found: dict[str, Mapping[str, Any]] = {}
        self._asked: set[str] = set()

    def ask(self, order: Mapping[str, Any]) -> None:
        """Order one case, once."""
        if order["case"] not in self._asked:
            self._asked.add(order["case"])
            self._child.order(json.dumps({**order, "roots": self._roots}))

    def answer(self, case: str) -> Mapping[str, Any]:
        """Wait for the answer about a case. Raises :class:`CompilingError`, ``KeyError``."""
        if case not in self._asked:
            raise KeyError(case)
        while case not in self._found:
            line = self._child.answer()
            if line is None:
                raise CompilingError(f"the process that compiles for {self.arch} died:\n{self._child.ended()[1]}")
            answer = json.loads(line)
            self._found[answer["case"]] = answer
        return self._found[case]

    @property
    def pid(self) -> int:
        """Its number in the system."""
        return self._child.pid

    def close(self) -> None:
        """End the process."""
        self._child.close()
