"""Old and new kernels measured in turn: when to stop, and what the pairs say. Pure.

Each fresh process gives one number per case, the trimmed mean of ln(new / old) over its blocks. Processes differ by
more than the blocks within one, so they are what is counted. After 4, 8 and 16 processes there is a look; the chance of
a false alarm is shared among the looks.
"""

from __future__ import annotations

import enum
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_roofline.statistics.noise import Prior, Spread, between_pairs, fit_prior, moderate
from pytest_roofline.statistics.summaries import MINIMAL, Change, alarm

LOOKS = (4, 8, 16)
FALSE_ALARM = alarm(400)  # of one unchanged case over all looks, on one side
CLEARED = 0.001  # chance that a case slowed by its target is cleared at a look
TARGETS = ((20e-6, 0.01), (5e-6, 0.02), (0.0, 0.05))  # smallest slowdown to be found, by seconds from which it holds
STATED_DEGREES = 8.0  # what the stated noise of pairs is worth
PRECISE = 1 / 8  # of the slowdown to be found: a standard error below which a process needs no further blocks


class Outcome(enum.Enum):
    """What the pairs of a case say so far."""

    SLOWER = "slower"
    FASTER = "faster"
    SAME = "same"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Decision:
    """The outcome after ``processes`` processes, and the numbers behind it."""

    outcome: Outcome
    change: Change
    processes: int


def target(seconds: float) -> float:
    """The smallest slowdown of a kernel of ``seconds`` that the retest is meant to find."""
    return next(fraction for start, fraction in TARGETS if seconds >= start)


def of_process(differences: Sequence[float]) -> float:
    """The number of one process: the 20-80 % trimmed mean of its blocks. Raises ``ValueError`` for none, or a NaN."""
    if not differences or not all(map(math.isfinite, differences)):
        raise ValueError("a process needs at least one block, and every block a finite difference")
    ordered = sorted(differences)
    cut = len(ordered) // 5
    return statistics.fmean(ordered[cut : len(ordered) - cut])


def precise(differences: Sequence[float], seconds: float) -> bool:
    """Whether the blocks of a process say enough about a kernel of ``seconds``.

    On 389 unchanged kernels what processes differed by was the standard error of their blocks in all but a few, so
    that the noisy ones gain from more blocks as much as from more processes. Only the scatter is looked at, never the
    mean, so going on favours neither verdict. The standard error of a trimmed mean is that of Tukey and McLaughlin
    (1963), from winsorised differences.
    """
    if len(differences) < 2:
        return False
    ordered = sorted(differences)
    cut = len(ordered) // 5
    kept = len(ordered) - 2 * cut
    tails = [ordered[cut]] * cut, [ordered[-cut - 1]] * cut
    scatter = statistics.stdev([*tails[0], *ordered[cut : len(ordered) - cut], *tails[1]])
    return scatter * math.sqrt(len(ordered)) / kept <= PRECISE * math.log1p(target(seconds))


def prior_of(pairs: Sequence[tuple[float, Sequence[float]]]) -> Prior:
    """A prior of the variance between processes, from ``(stated noise, one number per process)`` of many cases.

    Of few cases only the stated noise is known, and that is worth little: other cases on one card showed it.
    """
    own = ((statistics.variance(d) / stated**2, len(d) - 1) for stated, d in pairs if len(d) > 1)
    found = fit_prior(own)
    return found if found.cases else Prior(degrees=STATED_DEGREES)


def decide(
    seconds: float,
    differences: Sequence[float],
    prior: Prior,
    calibrated: Sequence[float] = (),
    chance: float = FALSE_ALARM,
    *,
    power_limited: bool = False,
) -> Decision:
    """What ``differences``, one per process, say about a kernel of ``seconds``; ``calibrated`` are differences of the
    unchanged kernel, taken earlier; ``chance`` is that of a false alarm. Raises ``ValueError`` for fewer than two
    differences, or a NaN.

    Undecided before the first look, and whenever the interval allows both; after the last look that is final.
    """
    if len(differences) < 2 or not all(map(math.isfinite, differences)):
        raise ValueError("a paired comparison needs two processes and finite differences")
    own = moderate(prior, between_pairs(seconds, power_limited=power_limited), [differences, calibrated])
    found = paired_change(statistics.fmean(differences), own, len(differences), chance)
    outcome = _outcome(found, own, len(differences), target(seconds))
    return Decision(outcome if len(differences) >= LOOKS[0] else Outcome.UNDECIDED, found, len(differences))


def paired_change(difference: float, own: Spread, processes: int, chance: float = FALSE_ALARM) -> Change:
    """The mean of so many pairs with its interval."""
    half = own.half_width(chance / len(LOOKS), 1 / processes)
    miss = own.half_width(0.01, 1 / max(LOOKS))
    last = own.half_width(chance / len(LOOKS), 1 / max(LOOKS))
    return Change(
        ratio=math.exp(difference),
        low=math.exp(difference - half),
        high=math.exp(difference + half),
        detectable=(1 + MINIMAL) * math.exp(last + miss) - 1,
        excluded=math.exp(difference + own.half_width(CLEARED, 1 / processes)) - 1,
    )


def _outcome(found: Change, own: Spread, processes: int, wanted: float) -> Outcome:
    if found.low > 1 + MINIMAL:
        return Outcome.SLOWER
    if found.high < 1 / (1 + MINIMAL):
        return Outcome.FASTER
    reach = own.half_width(CLEARED, 1 / processes)
    if abs(math.log(found.ratio)) + reach < math.log1p(wanted):
        return Outcome.SAME
    return Outcome.UNDECIDED
