"""What the stored campaigns alone find, on recorded rounds: a run is held against campaigns of other starts.

Each round over all cases is a run; what seems slower is measured again in the next four rounds of its card, as in fresh
processes. Of each kernel of each run this gives the smallest slowdown that would have been called a regression, and so
the share that is found of any slowdown. Slowdowns are added to recorded times: on this scale a planted one is the same.
"""

from __future__ import annotations

import math
import pathlib
import sys
from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.retests import Starts, complete  # noqa: E402
from benchmarks.round_tables import after, class_of, several  # noqa: E402
from benchmarks.rounds_data import Round  # noqa: E402
from benchmarks.screens import Campaigns, campaigns, slowed  # noqa: E402
from benchmarks.shares import Share, count_limit  # noqa: E402
from pytest_roofline.retest.choice import SEEMS, worth  # noqa: E402
from pytest_roofline.retest.session import FRESH  # noqa: E402
from pytest_roofline.retest.settings import SUSPECTS  # noqa: E402
from pytest_roofline.statistics import MINIMAL, Change, Summary, alarm, middle  # noqa: E402
from pytest_roofline.statistics.screen import Shift, compare_run  # noqa: E402
from pytest_roofline.verdict import Kind, Reason  # noqa: E402

ADDED = (0.02, 0.03, 0.04, 0.05, 0.10)
CHANGED = (400, 10)  # kernels whose code has changed, which share the false alarms of a run
UNTOLD = (Reason.STRANGE, Reason.CLOCK)


def alone(starts: Starts, judged: Collection[str]) -> None:
    """Print shares that are found, by class and by how many kernels have changed, and every false alarm."""
    if not several(starts):
        return
    for changed in CHANGED:
        needed: dict[str, list[float]] = defaultdict(list)
        alarms, runs, strange, counts, told = [], 0, 0, [], []
        for name in judged:
            stored, whole = campaigns(starts, name), complete(starts[name])
            counts.append(len(stored.rounds))
            for one in whole:
                moved = stored.moved(one)
                runs, strange = runs + 1, strange + stored.strange(moved)
                fresh = [one, *after(whole, one)[:FRESH]]
                again = stored.moved_again(fresh, moved)
                told.append(len(again.distances))
                for case in stored.runs:
                    if case not in one.cases or case in one.disturbed:
                        continue
                    chain = [s for r in fresh if case not in r.disturbed and (s := r.summary(case))]
                    smallest = smallest_found(stored, one, case, chain, (moved, again), alarm(changed))
                    needed[class_of(whole, case)].append(smallest)
                    if (
                        smallest <= 0
                        and verdict_of(stored, one, case, chain, (moved, again), alarm(changed)) is Kind.REGRESSION
                    ):
                        alarms.append(f"{name} {case}")
        seen = f"{runs} runs, {strange} on a strange card, controls tell of {min(told)} to {max(told)} campaigns"
        _tell(changed, needed, alarms, f"{min(counts)} to {max(counts)}", seen)


def smallest_found(
    stored: Campaigns, one: Round, case: str, chain: Sequence[Summary], moved: tuple[Shift, Shift], chance: float
) -> float:
    """The smallest slowdown that would be called a regression; infinite where the verdict is left open anyway.

    ``moved`` is what the run and the fresh processes say of the run as a whole.
    """
    # What is said of a kernel ten times as slow beside its numbers holds for any slowdown.
    if stored.verdict(one, case, slowed(chain[0], 9.0), moved[0], chance).reason in UNTOLD:
        return math.inf
    first, again = (
        compare_run(case, run, stored.runs[case], stored.past, here, chance)
        for run, here in zip((chain[0], middle(chain)), moved, strict=True)
    )
    return max(_suspect(first), (1 + MINIMAL) / again.low - 1)


def _suspect(found: Change) -> float:
    """The smallest slowdown with which a run is measured again (``retest.choice``)."""
    likely = max(((1 + found.excluded) / found.ratio) ** SEEMS, 1 + MINIMAL) / found.ratio
    return min(likely, 1 / found.low) - 1


def verdict_of(
    stored: Campaigns, one: Round, case: str, chain: Sequence[Summary], moved: tuple[Shift, Shift], chance: float
) -> Kind:
    """The verdict of a run whose fresh processes are the rest of a chain, if it comes to them."""
    verdict = stored.verdict(one, case, chain[0], moved[0], chance)
    if worth(verdict, one.cases[case]["seconds"], SUSPECTS, old=False):
        verdict = stored.verdict(one, case, middle(chain), moved[1], chance)
    return verdict.kind


def _tell(changed: int, needed: dict[str, list[float]], alarms: Sequence[str], counts: str, runs: str) -> None:
    print(f"Stored campaigns alone ({counts}), {runs}, {changed} kernels changed:")
    for group, smallest in sorted(needed.items()):
        shares = ", ".join(f"{100 * by:.0f} % {Share(sum(s <= by for s in smallest), len(smallest))}" for by in ADDED)
        print(f"  {group}: {shares}")
        known = [s for s in smallest if s < math.inf]
        quantiles = np.quantile(known, [0.5, 0.9, 0.99]) if known else []
        ends = ", ".join(f"{100 * end:.1f} %" for end in quantiles)
        print(f"    on cards like the stored ones: found in 50, 90 and 99 % are {ends} ({len(known)})")
    cases = sum(map(len, needed.values()))
    limit = 400 * count_limit(len(alarms)) / cases
    print(f"  false alarms: {len(alarms)} of {cases}, so at most {limit:.2f} in 400 cases (95 % limit)")
    for line in alarms:
        print(f"    {line}")
