"""Which cases a reader should see first. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_roofline.runs.record import CaseRecord
from pytest_roofline.verdict import FAILING, WARNING

_FAILING = frozenset(kind.value for kind in FAILING)
_WARNING = frozenset(kind.value for kind in WARNING)
_WORDS = {"information": "peer", "stale_ceiling": "stale"}

FAILED, WARNED, FINE = "failed", "warned", "fine"
ORDER = (FAILED, WARNED, FINE)


def severity(case: CaseRecord) -> str:
    """:data:`FAILED`, :data:`WARNED` or :data:`FINE`. ``new`` is no reason to look at a case first."""
    if case.outcome not in ("ok", "invalid"):
        return FAILED
    kind = case.verdict.kind if case.verdict is not None else ""
    if kind in _FAILING:
        return FAILED
    return WARNED if kind in _WARNING and kind != "new" else FINE


def word(case: CaseRecord) -> str:
    """The verdict in one word: for a failed check how it failed."""
    if case.outcome not in ("ok", "invalid") or case.verdict is None:
        return case.outcome
    return _WORDS.get(case.verdict.kind, case.verdict.kind)


def worst_first(cases: Iterable[CaseRecord]) -> list[CaseRecord]:
    """Failures, then warnings, then the rest, each by what is missing to the roof.

    Among the rest the best kernels come before the lower rungs of their ladders, which are slow by design, and library
    routines come last.
    """
    return sorted(cases, key=_key)


def distance(case: CaseRecord) -> float | None:
    """The share of its bound that says how far a case is from it: ``None`` where it is no measure of the kernel."""
    return None if case.regime == "overhead" else case.fraction


def _key(case: CaseRecord) -> tuple[int, int, float, str]:
    fraction, kernel = distance(case), case.kernel
    rank = 2 if kernel.peer else 0 if kernel.best else 1
    # Without a fraction a case says nothing about its distance, so it does not push itself forward.
    return ORDER.index(severity(case)), rank, 1.0 if fraction is None else fraction, case.id
