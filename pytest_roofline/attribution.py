"""A change of a kernel's time, and what it is attributed to: the kernel, or what else changed around it. Pure.

``compare`` says what a change against the baseline means, ``settle`` what a retest beside the old kernel found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_roofline.statistics import MINIMAL, Change
from pytest_roofline.statistics.paired import Decision, Outcome
from pytest_roofline.statistics.screen import Shift
from pytest_roofline.verdict import Kind, Reason, Verdict

BLIND = 0.15  # a case that could hide a slowdown this large cannot be called the same


@dataclass(frozen=True)
class Circumstances:
    """What else than the kernel may explain a change against the baseline.

    ``differences`` name what else changed (driver, toolchain). ``same_code``: the machine code and the launch
    configuration are those of the baseline. ``floor``: an empty launch became slower by so many seconds, and the rest
    of the change is none. ``clock``: SM clock over that of the baseline, where it is shifted. ``cycles``: runs are
    compared at equal clocks, so that the clock explains nothing. ``strange``: the run as a whole is like none of the
    stored ones. ``host``: what is timed is the host, and this is another one. ``whole``: what was taken out of this
    case because the whole run moved so, on ln(seconds), where no unchanged code shows whether the machine did it.
    ``seconds``: the ratio in seconds, beside one at equal clocks. ``starts`` of the machine that the stored runs are
    from, 0 for as many as there are runs.
    """

    differences: Sequence[str] = ()
    same_code: bool = False
    floor: float = 0.0
    clock: float = 1.0
    cycles: bool = False
    strange: bool = False
    host: bool = False
    whole: float = 0.0
    seconds: float | None = None
    starts: int = 0


def compare(found: Change | None, campaigns: int, around: Circumstances | None = None) -> Verdict:
    """A run against so many stored ones of the same case on the same device; ``None`` where there is none.

    A slowdown is a ``regression`` of the kernel only if nothing else explains it; else it is the ``environment``.
    """
    around = around or Circumstances()
    if found is None or not campaigns:
        sentence = "no baseline for this case: store one with --roofline-update"
        return Verdict(Kind.NEW, Reason.NO_BASELINE, sentence, suspect=True)
    kind, reason = _classify(found)
    unit = "at equal clocks " if around.cycles else ""
    starts = around.starts or campaigns
    sentence = f"{interval(found)} {unit}against {campaigns} stored run{'s' if campaigns > 1 else ''}"
    if starts < campaigns:
        sentence += f" of {starts} start{'s' if starts > 1 else ''} of the machine"
    if around.cycles and around.seconds is not None:
        sentence += f" ({100 * (around.seconds - 1):+.1f} % in seconds)"
    if around.differences:
        sentence += f" of another environment: {'; '.join(around.differences)}"
    kind, reason, why = _explained(kind, reason, found, around)
    sentence += why
    if kind is Kind.UNRESOLVED:
        sentence += f"; a slowdown below {100 * found.detectable:.1f} % might not show"
    suspect = kind is not Kind.SAME or (around.clock != 1.0 and not around.same_code)
    return Verdict(kind, reason, sentence, found, starts, suspect)


def _classify(found: Change) -> tuple[Kind, Reason]:
    """The first rule: what lies beyond :data:`MINIMAL` with its whole interval has changed; what has left 1 with its
    whole interval but not :data:`MINIMAL`, or could have changed by :data:`BLIND` either way, cannot be told."""
    if found.low > 1 + MINIMAL:
        return Kind.REGRESSION, Reason.SLOWER
    if found.high < 1 / (1 + MINIMAL):
        return Kind.IMPROVEMENT, Reason.FASTER
    slower = found.low > 1 and found.ratio > 1 + MINIMAL
    faster = found.high < 1 and found.ratio < 1 / (1 + MINIMAL)
    if slower or faster:
        return Kind.UNRESOLVED, Reason.BORDERLINE
    # What a speedup of the same size would look like is the mirror image.
    if (1 + found.excluded) * max(1.0, found.ratio**-2) > 1 + BLIND:
        return Kind.UNRESOLVED, Reason.TOO_NOISY
    return Kind.SAME, Reason.WITHIN_SPREAD


def _explained(kind: Kind, reason: Reason, found: Change, around: Circumstances) -> tuple[Kind, Reason, str]:
    """Another cause than the kernel, the surest first, and how the sentence goes on; for what is the same, what may
    hide that it is not."""
    if kind is Kind.SAME:
        return _cleared(reason, around)
    if around.same_code:
        blame = Kind.ENVIRONMENT if changed(found) else Kind.SAME
        return blame, Reason.SAME_CODE, "; the compiled code and its launch are those of the baseline"
    if around.differences:
        return Kind.ENVIRONMENT, Reason.FINGERPRINT, ""
    if around.floor:
        return Kind.ENVIRONMENT, Reason.LAUNCH_FLOOR, f"; an empty launch takes {around.floor * 1e9:+.0f} ns more"
    if _owed_to_shift(kind, found, around.whole):
        return Kind.UNRESOLVED, Reason.CAMPAIGN, _whole(around.whole)
    if around.clock != 1.0 and _owed_to_clock(found, around):
        return Kind.UNRESOLVED, Reason.CLOCK, _clock(around)
    if around.host and kind is not Kind.UNRESOLVED:
        return Kind.UNRESOLVED, Reason.HOST, "; but those timed another host than this: --roofline-against tells"
    if around.strange and kind is not Kind.UNRESOLVED:
        return Kind.UNRESOLVED, Reason.STRANGE, "; but no stored card is like this one: --roofline-against tells"
    return kind, reason, ""


def _cleared(reason: Reason, around: Circumstances) -> tuple[Kind, Reason, str]:
    """Whether a case that is the same beside the whole run, and at its clock, can be called so."""
    if around.same_code:
        return Kind.SAME, reason, ""
    if around.whole > 0 and around.differences:
        return Kind.ENVIRONMENT, Reason.FINGERPRINT, f"; the whole run moved by {_percent(around.whole)}"
    if around.whole > 0:
        return Kind.UNRESOLVED, Reason.CAMPAIGN, _whole(around.whole)
    if _hidden_by_clock(around):
        return Kind.UNRESOLVED, Reason.CLOCK, _clock(around)
    if around.strange:
        return Kind.UNRESOLVED, Reason.STRANGE, "; but no stored card is like this one: --roofline-against tells"
    return Kind.SAME, reason, ""


def _hidden_by_clock(around: Circumstances) -> bool:
    """Whether a slowdown may hide behind the clock: in the same seconds at a higher one, or in the same cycles at a
    lower one, which the kernel itself brings about if it draws more power."""
    return around.clock < 1 if around.cycles else around.clock > 1


def _owed_to_clock(found: Change, around: Circumstances) -> bool:
    """Whether a shifted clock may be the cause of a change: of seconds that go with it, or of fewer cycles at a lower
    one, which memory does not follow."""
    if found.ratio < 1:
        return _hidden_by_clock(around)
    return not around.cycles and around.clock < 1


def _clock(around: Circumstances) -> str:
    return f"; the SM clock is {100 * (around.clock - 1):+.1f} % off: --roofline-against tells"


def _owed_to_shift(kind: Kind, found: Change, whole: float) -> bool:
    """Whether a change would be none, had the shift of the whole run not been taken out: faster than a run that became
    slower, or slower than one that became faster."""
    if kind is Kind.IMPROVEMENT:
        return whole > 0 and found.high * math.exp(whole) >= 1 / (1 + MINIMAL)
    return kind is Kind.REGRESSION and whole < 0 and found.low * math.exp(whole) <= 1 + MINIMAL


def _whole(moved: float) -> str:
    return (
        f"; but this is beside a whole run that moved by {_percent(moved)}, and too little of its code is known to be "
        "the baseline's to tell whether the machine did it: --roofline-against tells"
    )


def _percent(moved: float) -> str:
    return f"{100 * math.expm1(moved):+.1f} %"


def changed(found: Change) -> bool:
    """Whether a change is called one, in either direction."""
    return _classify(found)[0] in (Kind.REGRESSION, Kind.IMPROVEMENT)


def settle(before: Verdict, decision: Decision, against: str) -> Verdict:
    """The verdict of a case that was retested beside its old kernel; ``before`` is what the baseline said."""
    found, processes = decision.change, decision.processes
    sentence = f"{interval(found)} against {against}, in turn in {processes} processes"
    if decision.outcome is Outcome.UNDECIDED:
        sentence += f"; a slowdown below {100 * found.detectable:.1f} % might not show"
    kind, reason = {
        Outcome.SLOWER: (Kind.REGRESSION, Reason.SLOWER),
        Outcome.FASTER: (Kind.IMPROVEMENT, Reason.FASTER),
        Outcome.SAME: (Kind.SAME, Reason.WITHIN_SPREAD),
        Outcome.UNDECIDED: (Kind.UNRESOLVED, Reason.BORDERLINE),
    }[decision.outcome]
    if kind is Kind.SAME and before.kind is Kind.REGRESSION:
        kind, reason = Kind.ENVIRONMENT, Reason.OLD_SLOWER_TOO
        sentence += f"; the baseline says {before.sentence}, and so it is as slow with the old kernel"
    return Verdict(kind, reason, sentence, found, before.campaigns)


def accepted(verdict: Verdict) -> bool:
    """Whether storing this run means that the kernel has changed: what was stored before then measured another one."""
    unchanged = (Kind.ENVIRONMENT, Kind.INVALID, Kind.UNRESOLVED, Kind.SAME, Kind.INFORMATION)
    return verdict.kind not in unchanged and verdict.change is not None and changed(verdict.change)


def shift_sentence(moved: Shift, against: bool) -> str:
    """What is told of a run that moved as a whole: this is taken out of every case, so it must not stay unsaid."""
    of = " of unchanged code" if moved.anchored else ""
    seen = f"{_percent(moved.seen)} against the stored campaigns, over {moved.cases} cases{of}"
    told = f"the whole run moved by {seen} (those differ by {100 * moved.usual:.1f} %); it is taken out of every case"
    if moved.anchored:
        return f"environment: {told}"
    left = ", and those whose code has changed or is not known are left unresolved" if moved.seen > 0 else ""
    rest = "" if against else "; --roofline-against=REF tells whether the code or the machine did it"
    return f"{'unresolved' if moved.seen > 0 else 'environment'}: {told}{left}{rest}"


def interval(found: Change) -> str:
    """``+1.2 % (+0.4 to +2.0)``."""
    return f"{100 * (found.ratio - 1):+.1f} % ({100 * (found.low - 1):+.1f} to {100 * (found.high - 1):+.1f})"
