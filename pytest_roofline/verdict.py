"""What is said about a case: a kind, a reason code and a sentence. Pure.

:mod:`pytest_roofline.attribution` makes verdicts of a change against the baseline or the old kernel,
:mod:`pytest_roofline.limits` of what the roofline allows; ``judge`` makes one of all of them.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_roofline.statistics import Change

FIRM = 5  # campaigns below which a baseline is provisional


class Kind(enum.Enum):
    """What is said about a case."""

    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    SAME = "same"
    UNRESOLVED = "unresolved"
    INVALID = "invalid"
    ENVIRONMENT = "environment"
    NEW = "new"
    MISSING = "missing"
    ORPHAN = "orphan"
    IMPOSSIBLE = "impossible"
    BELOW_FLOOR = "below_floor"
    STALE_CEILING = "stale_ceiling"
    INFORMATION = "information"


class Reason(enum.Enum):
    """Why."""

    SLOWER = "slower_than_baseline"
    FASTER = "faster_than_baseline"
    WITHIN_SPREAD = "within_spread_of_baseline"
    BORDERLINE = "changed_but_perhaps_not_enough"
    TOO_NOISY = "cannot_tell_at_this_noise"
    THROTTLED = "gpu_throttled"
    HOST_STALLED = "host_stalled"
    NO_TIME = "not_a_time"
    FINGERPRINT = "environment_changed"
    NO_BASELINE = "no_baseline"
    NOT_RUN = "in_baseline_but_not_run"
    NO_CASE = "baseline_without_case"
    ABOVE_ROOF = "faster_than_datasheet"
    UNDER_FLOOR = "under_floor"
    ABOVE_CEILING = "faster_than_measured_ceiling"
    PEER = "library_routine"
    NO_OLD_KERNEL = "no_old_kernel"
    OLD_FAILS = "old_kernel_does_not_run"
    SAME_CODE = "code_unchanged"
    OLD_SLOWER_TOO = "old_kernel_as_slow_here"
    LAUNCH_FLOOR = "launches_cost_more_or_less"
    CAMPAIGN = "whole_run_shifted"
    CLOCK = "clock_shifted"
    STRANGE = "card_unlike_stored_ones"
    HOST = "host_of_another_machine"
    COSTS_MORE = "counts_more"
    COSTS_LESS = "counts_less"
    COUNTS_EQUAL = "counts_equal"


FAILING = frozenset({Kind.REGRESSION, Kind.IMPOSSIBLE, Kind.BELOW_FLOOR, Kind.ORPHAN, Kind.INVALID, Kind.MISSING})
WARNING = frozenset({Kind.UNRESOLVED, Kind.NEW, Kind.ENVIRONMENT, Kind.STALE_CEILING})

# A measurement that says nothing comes first, then one that cannot be true: beside them no other verdict is worth
# reading. Then what fails, an absolute limit before a relative one: a kernel below its floor must be repaired whatever
# it was before. Then what warns, the cause (environment, ceiling) before the symptom (unresolved). Good news is last.
_PRECEDENCE = (
    Kind.INVALID,
    Kind.IMPOSSIBLE,
    Kind.BELOW_FLOOR,
    Kind.REGRESSION,
    Kind.ORPHAN,
    Kind.MISSING,
    Kind.ENVIRONMENT,
    Kind.STALE_CEILING,
    Kind.UNRESOLVED,
    Kind.NEW,
    Kind.IMPROVEMENT,
    Kind.SAME,
    Kind.INFORMATION,
)


@dataclass(frozen=True)
class Verdict:
    """A kind, its reason and a sentence for people; numbers where there are any. ``campaigns`` of one start of the
    machine count as one. ``suspect`` asks for a retest."""

    kind: Kind
    reason: Reason
    sentence: str
    change: Change | None = None
    campaigns: int = 0
    suspect: bool = False

    @property
    def provisional(self) -> bool:
        """Whether it rests on fewer campaigns than a firm baseline has."""
        return 0 < self.campaigns < FIRM

    def fails(self, *, strict: bool = False) -> bool:
        """Whether it makes a run fail; ``strict`` fails warnings too."""
        return self.kind in FAILING or (strict and self.kind in WARNING)


def judge(verdicts: Sequence[Verdict]) -> Verdict:
    """The one verdict of a case out of all its comparisons, by precedence.

    It keeps the numbers of the comparison with the baseline, and its sentence names every other failure, so that none
    hides behind another, unless the time itself is in doubt. Raises ``ValueError`` for no verdicts.
    """
    if not verdicts:
        raise ValueError("there is nothing to judge")
    first, *others = sorted(verdicts, key=lambda verdict: _PRECEDENCE.index(verdict.kind))
    doubtful = first.kind in (Kind.INVALID, Kind.IMPOSSIBLE)
    failures = [f"also {other.kind.value}: {other.sentence}" for other in others if other.fails() and not doubtful]
    numbers = next((verdict for verdict in (first, *others) if verdict.change is not None), first)
    return replace(
        first,
        sentence="; ".join([first.sentence, *failures]),
        change=numbers.change,
        campaigns=numbers.campaigns,
        suspect=first.suspect,
    )
