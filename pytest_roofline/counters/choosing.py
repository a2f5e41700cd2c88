"""Which of the timed cases are profiled: those that a run flags, or those that a pattern names. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from pytest_roofline.judging import Row
from pytest_roofline.roofline import Regime
from pytest_roofline.verdict import FAILING, WARNING, Kind

FLAGGED = "flagged"
"""The word that stands for cases with a verdict to look into and the furthest from their bound."""
FURTHEST = 3  # beside the flagged ones: what a reader of the roofline asks about first
LIMIT = 16  # a case takes one to two seconds under the profiler; a pattern may choose more


def choose(rows: Sequence[Row], wanted: Sequence[str]) -> list[Row]:
    """Rows to profile, in the order of the run, each once.

    ``wanted`` are :data:`FLAGGED` or patterns of case ids as the shell has them (``sum/*/f32/*``). What has no time is
    never chosen.
    """
    timed = [row for row in rows if row.summary is not None]
    keep: set[str] = set()
    for pattern in wanted:
        found = flagged(timed) if pattern == FLAGGED else [r for r in timed if fnmatchcase(str(r.case), pattern)]
        keep.update(str(row.case) for row in found)
    return [row for row in timed if str(row.case) in keep]


def flagged(rows: Sequence[Row]) -> list[Row]:
    """Failing verdicts, then warnings that are about the kernel, then the furthest from its bound."""
    doubtful = WARNING - {Kind.NEW}  # says nothing about the kernel
    failing = [row for row in rows if row.verdict.kind in FAILING]
    warning = [row for row in rows if row.verdict.kind in doubtful]
    return [*failing, *warning][: LIMIT - FURTHEST] + furthest(rows)


def furthest(rows: Sequence[Row]) -> list[Row]:
    """The kernels whose slowest case reaches the least of its bound; launches and library routines are left out."""
    shares = [(row.assessment.fraction(row.seconds), row) for row in rows if not row.case.kernel.peer]
    known = [(s, r) for s, r in shares if s is not None and r.assessment.regime is not Regime.OVERHEAD]
    by_kernel: dict[tuple[str, str, str], Row] = {}
    for _, row in sorted(known, key=lambda item: item[0]):
        by_kernel.setdefault((row.case.operation.name, row.case.kernel.backend, row.case.kernel.variant), row)
    return list(by_kernel.values())[:FURTHEST]
