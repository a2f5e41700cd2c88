"""What tables of recorded rounds have in common: classes of kernels, and lines of shares."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Mapping, Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.retests import Starts  # noqa: E402
from benchmarks.rounds_data import Round, kind  # noqa: E402
from benchmarks.shares import Share, count_limit  # noqa: E402

LIMITED = "power-limited"


def name_of(one: Round, case: str) -> str:
    """The class that a case counts to."""
    return kind(one.cases[case]["seconds"])


def class_of(rounds: Sequence[Round], case: str) -> str:
    """The class that a case counts to. Power-limited kernels count on their own: their times follow their clocks."""
    mine = [one for one in rounds if case in one.cases]
    return LIMITED if sum(one.limited(case) for one in mine) > len(mine) / 2 else name_of(mine[0], case)


def several(starts: Starts) -> bool:
    """Whether there are two starts of the machine, one to be held against the other."""
    return len({rounds[0].machine for rounds in starts.values()}) > 1


def after(rounds: Sequence[Round], one: Round) -> list[Round]:
    """The others in turn from the one after it on, and itself last: four rounds are as many as a retest needs."""
    place = rounds.index(one)
    return [*rounds[place + 1 :], *rounds[:place], one]


def rows(
    found: Mapping[tuple[str, float], Sequence[object]], slower: object, faster: object, unresolved: object
) -> None:
    """A line for each class and slowdown: which share was called what."""
    for (name, planted), outcomes in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        share = Share(sum(one is slower for one in outcomes), len(outcomes))
        counts = ((faster, "faster"), (unresolved, "unresolved"), (None, "undecided where the recording ended"))
        others = ", ".join(f"{n} {word}" for kind, word in counts if (n := sum(one is kind for one in outcomes)))
        what = f"{name}, +{100 * planted:.0f} %" if planted else f"{name}, unchanged"
        print(f"  {what}: slower {share}" + (f"; {others}" if others else ""))
    alarms, cases = 0, 0
    for (_, planted), outcomes in found.items():
        if not planted:
            alarms += sum(one is slower for one in outcomes)
            cases += len(outcomes)
    if cases:
        limit = 400 * count_limit(alarms) / cases
        print(f"  false alarms: {alarms} of {cases}, so at most {limit:.2f} in 400 cases (95 % limit)")
