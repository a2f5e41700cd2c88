"""Retests in pairs on recorded rounds: each round is one of the processes, in order."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Mapping, Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.rounds_data import Round  # noqa: E402
from pytest_roofline.statistics.noise import Prior, between_pairs  # noqa: E402
from pytest_roofline.statistics.paired import FALSE_ALARM, LOOKS, Decision, Outcome, decide, prior_of  # noqa: E402


def numbers(rounds: Sequence[Round], case: str, planted: float) -> list[float]:
    """One number per process that has measured it."""
    found = (one.number(case, planted) for one in rounds)
    return [number for number in found if number is not None]


def prior(rounds: Sequence[Round]) -> Prior:
    """What the pairs of unchanged kernels in these rounds say about all cases."""
    pairs = []
    for case, found in rounds[0].cases.items():
        stated = between_pairs(found["seconds"], power_limited=capped(rounds, case))
        pairs.append((stated, numbers(rounds, case, 0.0)))
    return prior_of(pairs)


def capped(rounds: Sequence[Round], case: str) -> bool:
    """Whether the power limit held the clocks down in any of them."""
    return any(one.limited(case) for one in rounds if case in one.cases)


def retest(
    rounds: Sequence[Round],
    case: str,
    planted: float,
    known: Prior,
    calibrated: Sequence[float] = (),
    chance: float = FALSE_ALARM,
) -> Decision | None:
    """What a retest says whose processes are these rounds; ``None`` for fewer than the first look needs.

    It ends undecided where the rounds do.
    """
    found, last = numbers(rounds, case, planted), None
    for look in LOOKS:
        if len(found) < look:
            break
        seconds = next(one.cases[case]["seconds"] for one in rounds if case in one.cases)
        limited = capped(rounds[:look], case)
        last = decide(seconds, found[:look], known, calibrated, chance, power_limited=limited)
        if last.outcome is not Outcome.UNDECIDED:
            break
    return last


def undecided(starts: Mapping[str, Sequence[Round]], turn: int) -> list[str]:
    """Cases of the only start whose retest, unchanged or slowed, in the rounds of a turn must go on.

    Surer than a retest has to be: it may be evaluated with another calibration later.
    """
    ((_, rounds),) = starts.items()
    chain = [one for one in rounds if one.turn == turn]
    known = prior(chain)
    open_ = []
    for case in chain[0].cases:
        found = (
            retest(chain, case, planted, known, chance=FALSE_ALARM / 20)
            for planted in (0.0, chain[0].planted(case) or 0.0)
        )
        if any(one is not None and one.outcome is Outcome.UNDECIDED for one in found):
            open_.append(case)
    return open_
