"""One sentence that says why a case is where it is. Pure.

It is what a reader sees first, so it names the strongest finding with the figures behind it, and where there is none it
says so and how to get one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_roofline.reports.diagnosis import RULES, Finding, Status
from pytest_roofline.runs.record import CaseRecord

AT_THE_ROOF = 0.85  # of the datasheet bound: measured copies reach 0.88 of it
UNCOUNTED = "Nothing of it is counted; hardware counters may explain it."
UNEXPLAINED = "Nothing that was counted explains it; hardware counters may."
_RULES = {rule.claim: rule for rule in RULES}
_NAMES = {"device": "device memory", "l2": "L2", "shared": "shared memory", "register": "registers", "host": "the link"}


def sentence(case: CaseRecord, findings: Sequence[Finding]) -> str:
    """Why a case takes as long as it does, as far as this run knows."""
    if case.outcome not in ("ok", "invalid"):
        return f"{case.outcome}: {case.said}"
    if case.seconds is None:
        return _counted(findings)
    if case.regime == "overhead":
        return "The work is shorter than an empty launch: what is measured is the launch, not the kernel."
    if case.fraction is None:
        return "This device has no roof that this work could be held against."
    bound = case.bounds.get("algorithm")
    by = _NAMES.get(bound.by, bound.by) if bound else "the device"
    strongest = ranked(findings)
    if case.fraction >= AT_THE_ROOF:
        return f"At the roof: {by} can hardly be busier."
    if not strongest:
        if case.kernel.peer:
            return "A library routine: nothing of it is counted."
        return UNEXPLAINED if case.counted is not None or case.ncu else UNCOUNTED
    return f"{_told(strongest[0])}."


def ranked(findings: Sequence[Finding]) -> list[Finding]:
    """Findings that apply and say what is wrong, the strongest first.

    That a kernel is memory-bound (``diag-2``) is a place on the roofline, no fault; it comes last.
    """
    found = [f for f in findings if f.status is Status.APPLIES]
    return sorted(found, key=lambda f: (f.claim == "diag-2", -f.weight))


def _counted(findings: Sequence[Finding]) -> str:
    strongest = ranked(findings)
    return f"{_told(strongest[0])}." if strongest else "Counted, not timed: no row of the diagnosis table applies."


def _told(finding: Finding) -> str:
    figures = finding.note or ", ".join(str(figure) for figure in finding.figures[:3])
    return f"{_RULES[finding.claim].meaning} ({figures})"
