"""The drawn checks of one kernel, kept short once it has not come to its end. Pure.

A kernel that loops for ever costs a checker's whole time limit in every example, and hypothesis looks for a smaller
example for minutes. So after the first one that timed out the others are attempts: under shortened limits, for a few
seconds in all. What is reported has timed out under the full limits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from pytest_roofline.evidence import CaseSpec, Evidence, Outcome

SHORT = 0.05
"""Of a checker's limits, in an attempt: half a second for a thread."""
SEARCH = 6.0
"""Seconds that attempts may take in all."""


class Attempts:
    """Runs examples. ``clock`` gives seconds."""

    def __init__(self, run: Callable[[CaseSpec], Evidence], clock: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._clock = clock
        self._first: CaseSpec | None = None  # that timed out
        self._failed: dict[CaseSpec, Evidence] = {}
        self._until = 0.0

    def run(self, spec: CaseSpec) -> Evidence:
        """Evidence of an example; after a time-out it may come from memory, and where time is up it is ``OK``."""
        if self._first is None:
            return self._example(spec)
        if spec not in self._failed:
            if self._clock() >= self._until:
                return Evidence(spec.case, Outcome.OK)
            evidence = self._run(replace(spec, patience=SHORT))
            if evidence.outcome is Outcome.OK:
                return evidence
            self._failed[spec] = evidence
        return self._failed[spec]

    def settle(self, spec: CaseSpec, evidence: Evidence) -> tuple[CaseSpec, Evidence]:
        """What to report of the smallest failing example: itself, or where it only needed more time, the first one."""
        if self._first is None or spec == self._first or not evidence.timed_out:
            return spec, evidence
        again = self._run(spec)
        if again.outcome is not Outcome.OK:
            return spec, again
        return self._first, self._failed[self._first]

    def _example(self, spec: CaseSpec) -> Evidence:
        evidence = self._run(spec)
        if evidence.timed_out:
            self._first = spec
            self._failed[spec] = evidence
            # A killed process has cost minutes, and so would each attempt.
            self._until = self._clock() + (0.0 if evidence.outcome is Outcome.HUNG else SEARCH)
        return evidence
