"""Which cases are worth another measurement. Pure."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence

from pytest_roofline.retest.settings import ALL, OFF
from pytest_roofline.statistics import MINIMAL
from pytest_roofline.statistics.paired import target
from pytest_roofline.verdict import FAILING, Kind, Reason, Verdict

CONTROLS = 40  # as good as all cases, on recorded rounds of an H200

SEEMS = 0.75  # of what one run in 4000 exceeds by chance

FINAL = FAILING - {Kind.REGRESSION}
"""What neither the rest of a run nor a retest changes."""

_SETTLED = FINAL | {Kind.STALE_CEILING, Kind.INFORMATION}


def worth(verdict: Verdict, seconds: float, which: str, *, old: bool, update: bool = False) -> bool:
    """Whether a retest may change what is said about a case of ``seconds``.

    Beside an ``old`` kernel: wherever the baseline has not excluded the slowdown that shall be found. Without one:
    where the case seems slower, which another process's state may have caused; or faster, if an ``update`` would drop
    what was stored before for that.
    """
    if which == OFF or verdict.kind in _SETTLED:
        return False
    if old:
        cleared = verdict.change is not None and verdict.change.excluded < target(seconds)
        return which == ALL or verdict.suspect or not cleared
    found = verdict.change
    if update and verdict.kind is Kind.IMPROVEMENT:
        return True
    if found is None or found.ratio <= 1:
        return False
    doubtful = verdict.kind is Kind.REGRESSION or verdict.reason in (Reason.BORDERLINE, Reason.CLOCK)
    # ``excluded`` lies above the ratio by what leaves one chance in 4000.
    likely = found.ratio > 1 + MINIMAL and found.ratio > ((1 + found.excluded) / found.ratio) ** SEEMS
    return which == ALL or doubtful or (likely and verdict.reason in (Reason.WITHIN_SPREAD, Reason.CAMPAIGN))


def controls(
    candidates: Sequence[str],
    unchanged: Collection[str],
    stored: Mapping[str, Collection[str]],
    rng: random.Random | None = None,
) -> list[str]:
    """Cases that are measured again beside suspects without an old kernel: several processes then tell as precisely as
    for the suspects which stored campaigns this run is like. None where they are too few.

    Those ``unchanged`` first, and of them those that most campaigns hold (``stored``, case -> campaigns): a campaign
    that holds too few of the controls says nothing of the run (``likeness.FEWEST``).
    """
    drawn = (rng or random.Random()).sample(candidates, len(candidates))
    chosen = sorted(drawn, key=lambda name: (name not in unchanged, -len(stored.get(name, ()))))[:CONTROLS]
    return chosen if len(chosen) == CONTROLS else []
