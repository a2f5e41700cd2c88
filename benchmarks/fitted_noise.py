"""The noise of a suite, fitted to recorded rounds: what starts, processes and pairs differ by, by class of kernels."""

from __future__ import annotations

import math
import pathlib
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.retests import complete  # noqa: E402
from benchmarks.rounds_data import Round, kind, load  # noqa: E402
from pytest_roofline.statistics.distributions import digamma, trigamma  # noqa: E402
from pytest_roofline.statistics.paired import LOOKS  # noqa: E402

LIMITED = "power-limited"


@dataclass(frozen=True)
class Class:
    """Kernels of about ``seconds``, a ``share`` of the suite; standard deviations of ln t between starts, processes of
    a start, pairs of a process, and samples of a run. Of a case they are those times exp(``spread`` z), with ``apart``
    for its pairs. A share ``common`` of the variance between starts is what kinds of cards have in common."""

    name: str
    share: float
    seconds: float
    start: float
    process: float
    pair: float
    jitter: float
    spread: float = 0.4
    apart: float = 0.4
    limited: bool = False
    common: float = 0.6


def fitted(folder: pathlib.Path) -> tuple[Class, ...]:
    """Classes with the noise that recorded rounds show."""
    cards = [rounds for found in load(folder).values() if len(rounds := complete(found)) >= LOOKS[0]]
    cases = {case for rounds in cards for one in rounds for case in one.cases}
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        found = Case.of(case, cards)
        if found is not None:
            groups[found.name].append(found)
    classes = []
    for name, members in groups.items():
        process, spread = typical([one.process for one in members])
        level, _ = typical([one.level for one in members])
        rounds = np.mean([one.rounds for one in members])
        classes.append(
            Class(
                name,
                share=len(members) / sum(map(len, groups.values())),
                seconds=float(np.median([one.seconds for one in members])),
                start=math.sqrt(max(level**2 - process**2 / rounds, 1e-8)),
                process=process,
                pair=typical([one.pair for one in members])[0],
                jitter=float(np.median([one.jitter for one in members])),
                spread=spread,
                apart=typical([one.pair for one in members])[1],
                limited=name == LIMITED,
            )
        )
        print("fitted", classes[-1])
    return tuple(sorted(classes, key=lambda one: -one.share))


@dataclass(frozen=True)
class Case:
    """What rounds on several cards say of one case: variances with their degrees of freedom."""

    name: str
    seconds: float
    rounds: float
    level: tuple[float, int]
    process: tuple[float, int]
    pair: tuple[float, int]
    jitter: float

    @classmethod
    def of(cls, case: str, cards: Sequence[Sequence[Round]]) -> Case | None:
        """``None`` where fewer than two cards have measured the same code often enough.

        Rounds in which another kernel had left a lowered clock behind are left out.
        """
        code = next(one.cases[case]["code"] for rounds in reversed(cards) for one in rounds if case in one.cases)
        kept = [[one for one in rounds if _alike(one, case, code)] for rounds in cards]
        kept = [rounds for rounds in kept if len(rounds) > 2]
        if len(kept) < 2:
            return None
        logs = [[one.summary(case).log_mean for one in rounds] for rounds in kept]
        pairs = [[one.number(case, 0.0) for one in rounds] for rounds in kept]
        seconds = float(np.median([one.cases[case]["seconds"] for rounds in kept for one in rounds]))
        limited = np.mean([one.limited(case) for rounds in kept for one in rounds]) > 0.5
        within = sum(len(rounds) - 1 for rounds in kept)
        return cls(
            LIMITED if limited else kind(seconds),
            seconds,
            float(np.mean([len(rounds) for rounds in kept])),
            (float(np.var([np.mean(card) for card in logs], ddof=1)), len(kept) - 1),
            (sum(float(np.var(card)) * len(card) for card in logs) / within, within),
            (sum(float(np.var(card)) * len(card) for card in pairs) / within, within),
            float(np.median([np.std(np.log(one.samples(case, 0.0)), ddof=1) for rounds in kept for one in rounds])),
        )


def _alike(one: Round, case: str, code: str) -> bool:
    return case in one.cases and one.cases[case]["code"] == code and case not in one.disturbed


def typical(variances: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """The typical standard deviation and by how much, as a standard deviation of its logarithm, cases differ in it."""
    known = [(max(v, 1e-10), d) for v, d in variances]
    logs = [math.log(v) - digamma(d / 2) + math.log(d / 2) for v, d in known]
    excess = np.var(logs, ddof=1) - np.mean([trigamma(d / 2) for _, d in known])
    return math.exp(float(np.median([math.log(v) for v, _ in known])) / 2), math.sqrt(max(float(excess), 0.0)) / 2
