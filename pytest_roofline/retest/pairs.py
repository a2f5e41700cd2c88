"""The retest in pairs: one fresh process after the other, a look after 4, 8 and 16, for what is undecided by then."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_roofline.evidence import CaseSpec, Evidence, Outcome, Pair
from pytest_roofline.statistics import alarm, paired
from pytest_roofline.statistics.noise import Prior, between_pairs
from pytest_roofline.statistics.paired import LOOKS, Decision, decide, of_process
from pytest_roofline.verdict import Reason

RunTogether = Callable[[Sequence[CaseSpec]], Iterable[Evidence]]
Tell = Callable[[str], None]
SPOILT = 4  # processes in which the machine spoilt a case, after which it is given up

_PASSING = frozenset({Reason.THROTTLED.value, Reason.HOST_STALLED.value})


@dataclass
class Order:
    """A case to retest: what the worker shall do, and what is known of its noise from calibrations."""

    spec: CaseSpec
    calibrated: Sequence[float] = ()


@dataclass
class Found:
    """What a case's pairs have given so far.

    ``differences`` has one number per process. ``problem`` is evidence that ended the retest of this case.
    ``same_code``: both versions compile to the same code and launch it alike, so nothing was measured.
    """

    differences: list[float] = field(default_factory=list)
    seconds: float = 0.0
    power_limited: bool = False
    decision: Decision | None = None
    problem: Evidence | None = None
    same_code: bool = False
    code: str | None = None
    spoilt: int = 0

    @property
    def stated(self) -> float:
        """The noise of pairs that is known of such kernels."""
        return between_pairs(self.seconds, power_limited=self.power_limited)

    @property
    def done(self) -> bool:
        """Whether nothing more needs to be measured."""
        decided = self.decision is not None and self.decision.outcome is not paired.Outcome.UNDECIDED
        return decided or self.problem is not None or self.same_code

    def take(self, evidence: Evidence) -> None:
        """Add what one process found."""
        pair = evidence.pair
        if evidence.reason in _PASSING:
            self.spoilt += 1
            self.problem = evidence if self.spoilt == SPOILT else None
        elif evidence.outcome is not Outcome.OK or pair is None:
            self.problem = evidence
        elif not pair.differences:
            self.same_code, self.code = True, pair.new_code
        else:
            self._add(pair)

    def _add(self, pair: Pair) -> None:
        self.differences.append(of_process(pair.differences))
        self.seconds, self.code = pair.old, pair.new_code
        self.power_limited |= "SwPowerCap" in pair.telemetry.throttle_reasons


def retest(
    orders: Mapping[str, Order],
    run_together: RunTogether,
    prior: Prior,
    tell: Tell,
    *,
    looks: Sequence[int] = LOOKS,
    rng: random.Random | None = None,
) -> dict[str, Found]:
    """Measure until every case is decided or the last look is over. The order of cases differs in each process."""
    rng = rng or random.Random()
    found = {case: Found() for case in orders}
    for process in range(1, looks[-1] + 1):
        active = [case for case, one in found.items() if not one.done]
        if not active:
            break
        rng.shuffle(active)
        tell(f"process {process} of {_next_look(process, looks)}, {cases(len(active))}")
        for evidence in run_together([orders[case].spec for case in active]):
            found[evidence.case].take(evidence)
        if process in looks:
            _look({case: found[case] for case in active}, orders, prior, alarm(len(orders)))
    return found


def _look(active: Mapping[str, Found], orders: Mapping[str, Order], prior: Prior, chance: float) -> None:
    """Decide what can be decided. Where nothing was calibrated, all pairs of this retest together say what is usual."""
    ready = {case: one for case, one in active.items() if not one.done and len(one.differences) > 1}
    if not prior.cases:
        prior = paired.prior_of([(one.stated, one.differences) for one in ready.values()])
    for case, one in ready.items():
        calibrated, limited = orders[case].calibrated, one.power_limited
        one.decision = decide(one.seconds, one.differences, prior, calibrated, chance, power_limited=limited)


def collect(orders: Mapping[str, Order], run_together: RunTogether, processes: int, tell: Tell) -> dict[str, Found]:
    """So many processes for every case, whatever they show."""
    found = {case: Found() for case in orders}
    for process, specs in enumerate(_shuffled([order.spec for order in orders.values()], processes), 1):
        tell(f"process {process} of {processes}, {cases(len(specs))}")
        for evidence in run_together(specs):
            if found[evidence.case].problem is None:
                found[evidence.case].take(evidence)
    return found


def _shuffled(specs: list[CaseSpec], times: int) -> Iterator[list[CaseSpec]]:
    for _ in range(times):
        yield random.sample(specs, len(specs))


def _next_look(process: int, looks: Sequence[int]) -> int:
    return next(look for look in looks if look >= process)


def cases(count: int) -> str:
    """``1 case``, ``7 cases``."""
    return "1 case" if count == 1 else f"{count} cases"
