"""Retests in pairs on recorded rounds: each round is one of the processes, in order."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.rounds_data import Round  # noqa: E402
from pytest_roofline.statistics.noise import Prior, between_pairs  # noqa: E402
from pytest_roofline.statistics.paired import FALSE_ALARM, LOOKS, Decision, Outcome, decide, prior_of  # noqa: E402


def numbers(rounds: Sequence[Round], case: str, planted: float) -> list[float]:
    """One number per process that has measured it."""
    found = (one.number(case, planted) for one in rounds)
    return [number for number in found if number is not None]


Starts = Mapping[str, Sequence[Round]]


@dataclass(frozen=True)
class Calibration:
    """What pairs of unchanged kernels have shown: of each case, and of variances in general."""

    pairs: Mapping[str, Sequence[float]]
    prior: Prior


def calibration(rounds: Sequence[Sequence[Round]]) -> Calibration:
    """From the first rounds of some starts: four processes each, as ``--roofline-calibrate`` takes.

    A process that took fewer blocks than a retest would is noisier than a retest, and says nothing about it.
    """
    pairs: dict[str, list[float]] = {}
    groups = []
    for start in rounds:
        chosen = complete(start)[: LOOKS[0]]
        for case, found in chosen[0].cases.items():
            own = numbers([one for one in chosen if one.precise(case)], case, 0.0)
            groups.append((between_pairs(found["seconds"], power_limited=capped(chosen, case)), own))
            pairs.setdefault(case, []).extend(own)
    return Calibration(pairs, prior_of(groups))


def complete(rounds: Sequence[Round]) -> list[Round]:
    """Those over all cases that were not cut off."""
    whole = 0.9 * max((len(one.cases) for one in rounds), default=0)
    return [one for one in rounds if not one.partial and len(one.cases) > whole]


def capped(rounds: Sequence[Round], case: str) -> bool:
    """Whether the power limit held the clocks down in any of them."""
    return any(one.limited(case) for one in rounds if case in one.cases)


def retest(
    rounds: Sequence[Round], case: str, planted: float, known: Calibration, chance: float = FALSE_ALARM
) -> Decision | None:
    """What a retest says whose processes are these rounds; ``None`` for fewer than the first look needs.

    It ends undecided where the rounds do.
    """
    found, last = numbers(rounds, case, planted), None
    for look in LOOKS:
        if len(found) < look:
            break
        seconds = next(one.cases[case]["seconds"] for one in rounds if case in one.cases)
        limited, own = capped(rounds[:look], case), known.pairs.get(case, ())
        last = decide(seconds, found[:look], known.prior, own, chance, power_limited=limited)
        if last.outcome is not Outcome.UNDECIDED:
            break
    return last


def planted_in(rounds: Sequence[Round]) -> dict[str, float]:
    """Every case of some rounds of one turn, and the slowdown that they have planted into it."""
    return {case: found["planted"] for one in rounds for case, found in one.cases.items()}


def calibrated(starts: Starts, name: str) -> Calibration:
    """What up to four processes of each card on other starts have shown of the pairs of unchanged kernels."""
    machine = starts[name][0].machine
    others = [rounds for rounds in starts.values() if rounds and rounds[0].machine != machine]
    return calibration(others or [starts[name]])


def undecided(starts: Starts, turn: int, stored: Starts) -> list[str]:
    """Cases of the only start whose retest, unchanged or slowed, in the rounds of a turn must go on."""
    ((name, rounds),) = starts.items()
    chain = [one for one in rounds if one.turn == turn]
    known = calibrated({**stored, name: chain}, name)
    open_ = []
    for case, slowdown in planted_in(chain).items():
        found = (retest(chain, case, planted, known) for planted in (0.0, slowdown))
        if any(one is not None and one.outcome is Outcome.UNDECIDED for one in found):
            open_.append(case)
    return open_
