"""How well a kernel's level on a card is predicted from other starts, by which predictor, and what none can reach.

    python benchmarks/predictors.py benchmarks/rounds [--held-out 1234abcd 5678ef01]    # of these starts alone

Each card (median of up to five processes) is predicted from the cards of other starts. Given for each predictor: what
is left, and the share of slowdowns by 2 % that would be found, were each kernel's standard deviation of it known (one
false alarm in 1000, normal tails), which is more than any rule can know of so few starts. Beside them: the other card
of the same start in place of a prediction, and a perfect prediction, from which a run still differs by the scatter of
its processes. Power-limited kernels: times in seconds, in cycles, and at equal clocks by the share of each kernel.
"""

from __future__ import annotations

import math
import pathlib
import sys
from collections.abc import Callable, Collection, Mapping

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.retests import Starts, complete  # noqa: E402
from benchmarks.rounds_data import CLASSES, Round, asked, kind  # noqa: E402
from benchmarks.screens import campaigns  # noqa: E402
from benchmarks.shares import Share  # noqa: E402
from benchmarks.simulated_tails import PROCESSES, recorded  # noqa: E402
from pytest_roofline.statistics import MINIMAL, Summary, middle  # noqa: E402
from pytest_roofline.statistics.clocks import at_clock  # noqa: E402
from pytest_roofline.statistics.distributions import student_quantile, student_tail  # noqa: E402
from pytest_roofline.statistics.likeness import fit  # noqa: E402
from pytest_roofline.statistics.noise import between_runs, by_start  # noqa: E402

SLOWDOWN = 0.02
CERTAIN = student_quantile(1e-3, math.inf)
NEIGHBOURS = 15  # kernels that a kernel is most correlated with
CAPPED = 3.0  # standard deviations of a neighbour: one that has changed counts as so much
RIDGE = 0.3  # in units of a neighbour's variance
FEWEST = 6  # cards that two kernels have in common, before their correlation is known
KNOWN = 4  # cards from which a kernel's standard deviation of what is left is told

Predictor = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""(cases, cards) of other starts, their starts, and (cases,) of a card, NaN where not measured -> (cases,)."""


def mean(others: np.ndarray, machines: np.ndarray, card: np.ndarray) -> np.ndarray:
    """The mean of the other cards."""
    return np.nanmean(others, axis=1)


def mixture(others: np.ndarray, machines: np.ndarray, card: np.ndarray) -> np.ndarray:
    """The mixture of cards that the screen takes."""
    names = [f"card{k}" for k in range(len(machines))]
    values = {
        str(i): {name: float(x) for name, x in zip(names, row, strict=True) if np.isfinite(x)}
        for i, row in enumerate(others)
    }
    stated = {case: between_runs(math.exp(np.mean(list(runs.values())))) for case, runs in values.items()}
    known = fit(values, stated, dict(zip(names, map(str, machines), strict=True)))
    to = known.to({str(i): float(x) for i, x in enumerate(card) if np.isfinite(x)})
    found = (known.expected(str(i), to) for i in range(len(card)))
    return np.array([np.nan if one is None else one[0] for one in found])


def neighbours(others: np.ndarray, machines: np.ndarray, card: np.ndarray) -> np.ndarray:
    """Each kernel from the ones that it is most correlated with: ridge regression over cards, each kernel with the
    weight of its correlation. A neighbour that has changed is capped, and one of fifteen."""
    levels = np.nanmean(others, axis=1)
    scale = np.maximum(np.sqrt(np.nanmean((others - levels[:, None]) ** 2, axis=1)), 5e-4)
    known = np.isfinite(others)
    there = np.where(known, np.clip((others - levels[:, None]) / scale[:, None], -CAPPED, CAPPED), 0.0)
    here = np.where(np.isfinite(card), np.clip((card - levels) / scale, -CAPPED, CAPPED), 0.0)
    common = known.astype(float) @ known.T.astype(float)
    squares = there**2 @ known.T
    correlation = np.abs(there @ there.T) / np.sqrt(np.maximum(squares * squares.T, 1e-12))
    correlation[(common < FEWEST) | ~np.isfinite(card)[None, :]] = 0.0
    np.fill_diagonal(correlation, 0.0)
    found = levels.copy()
    for i, row in enumerate(correlation):
        near, mine = np.argsort(-row)[:NEIGHBOURS], known[i]
        weights = row[near] / max(row[near].sum(), 1e-9)
        cards = there[near][:, mine]
        alike = (cards * weights[:, None]).T @ cards + RIDGE * np.eye(int(mine.sum()))
        to = (cards * weights[:, None]).T @ here[near]
        found[i] += scale[i] * float(np.linalg.solve(alike, to) @ there[i, mine])
    return found


PREDICTORS: Mapping[str, Predictor] = {
    "mean of the cards": mean,
    "mixture of cards (the screen)": mixture,
    f"its {NEIGHBOURS} most correlated kernels": neighbours,
}


def left(levels: np.ndarray, machines: np.ndarray, predictor: Predictor) -> np.ndarray:
    """What each card's levels differ by from their prediction."""
    found = np.full(levels.shape, np.nan)
    for card, machine in enumerate(machines):
        others = machines != machine
        known = np.isfinite(levels[:, others]).sum(1) >= KNOWN
        there = levels[known][:, others]
        there = there - np.nanmedian(there - np.nanmean(there, axis=1, keepdims=True), axis=0)
        here = levels[known, card]
        here = here - np.nanmedian(here - np.nanmean(there, axis=1))
        differences = here - predictor(there, machines[others], here)
        found[known, card] = differences - np.nanmedian(differences)
    return found


def beside(levels: np.ndarray, machines: np.ndarray) -> np.ndarray:
    """The same with the other card of the start in place of a prediction."""
    found = np.full(levels.shape, np.nan)
    for card, machine in enumerate(machines):
        (others,) = np.nonzero(machines == machine)
        for other in others[others != card]:
            differences = levels[:, card] - levels[:, other]
            found[:, card] = differences - np.nanmedian(differences)
    return found


def tell(name: str, everywhere: np.ndarray, here: np.ndarray, groups: np.ndarray) -> None:
    """A line for each class: what is left on cards ``here``, and the share of slowdowns that is found where what is
    left ``everywhere`` tells each kernel's standard deviation."""
    print(name)
    count, found = np.isfinite(everywhere).sum(1), everywhere[:, here]
    scatter = np.where(count >= KNOWN, np.sqrt(np.nansum(everywhere**2, axis=1) / np.maximum(count, 1)), np.nan)
    limit = math.log((1 + SLOWDOWN) / (1 + MINIMAL))
    for group in dict.fromkeys(name for _, name in CLASSES):
        mine = groups == group
        known = np.isfinite(found[mine]) & np.isfinite(scatter[mine])[:, None]
        rest = found[mine][known]
        hits = (found[mine] + limit > CERTAIN * scatter[mine][:, None])[known]
        parts = "/".join(f"{100 * q:.2f}" for q in np.quantile(abs(rest), (0.5, 0.9, 0.97)))
        print(f"  {group}: 50/90/97 % are off by at most {parts} %; 2 % found {Share(int(hits.sum()), hits.size)}")


def perfect(starts: Starts, judged: Collection[str]) -> None:
    """What a run of five processes, whose median is compared, would find beside a perfect prediction."""
    limit, shares = math.log((1 + SLOWDOWN) / (1 + MINIMAL)), {name: [] for _, name in CLASSES}
    for case in sorted({case for rounds in starts.values() for one in complete(rounds) for case in one.cases}):
        cards = [_undisturbed(rounds, case) for rounds in starts.values() if rounds[0].machine in judged]
        cards = [rounds for rounds in cards if len(rounds) > 2]
        if not cards or np.mean([one.limited(case) for rounds in cards for one in rounds]) > 0.5:
            continue
        variance = np.mean([np.var([one.summary(case).log_mean for one in rounds], ddof=1) for rounds in cards])
        error = max(1.2533 * math.sqrt(variance / PROCESSES), 1e-6)  # of a median of normal variables
        shares[kind(cards[0][0].cases[case]["seconds"])].append(student_tail(CERTAIN - limit / error, math.inf))
    print("a perfect prediction, but for the scatter of processes")
    for group, found in shares.items():
        sure = Share(int(np.sum(np.array(found) > 0.99)), len(found))
        print(f"  {group}: 2 % found in {100 * np.mean(found):.1f} %; in 99 % for kernels {sure}")


def _undisturbed(rounds: list[Round], case: str) -> list[Round]:
    return [one for one in complete(rounds) if case in one.cases and case not in one.disturbed]


def limited(starts: Starts, judged: Collection[str]) -> None:
    """Power-limited kernels with a share of their own, on cards like stored ones: what is left of their levels."""
    rest: dict[str, list[float]] = {"in seconds": [], "in clock cycles": [], "at equal clocks": []}
    for name, rounds in starts.items():
        stored, whole = campaigns(starts, name), complete(rounds)
        if rounds[0].machine not in judged or not whole or any(stored.strange(stored.moved(one)) for one in whole):
            continue
        moved = stored.moved(whole[0]).mean
        for case, share in stored.past.shares.items():
            runs = [found for one in _undisturbed(rounds, case) if (found := one.summary(case)) is not None]
            for unit, part in zip(rest, (0.0, 1.0, share), strict=True):
                if runs and (value := _at(middle(runs), part)) is not None:
                    there = {n: _at(run, part) or 0.0 for n, run in stored.runs[case].items()}
                    rest[unit].append(value - by_start(there, stored.past.starts)[0] - moved)
    print("power-limited, against the mean of starts")
    for unit, found in rest.items():
        parts = "/".join(f"{100 * q:.2f}" for q in np.quantile(np.abs(found), (0.5, 0.9, 0.97)))
        print(f"  {unit}: 50/90/97 % are off by at most {parts} % of {len(found)}")


def _at(run: Summary, part: float) -> float | None:
    return run.log_mean if part == 0 else at_clock(run, part)


def main() -> None:
    """Print the comparison."""
    starts, held_out = asked(__doc__)
    levels, machines = recorded(starts)
    judged = set(held_out or machines)
    print(f"{len(levels)} kernels on {len(machines)} cards that are like others, {len(judged)} starts judged")
    groups = np.array([kind(math.exp(np.nanmean(row))) for row in levels])
    here = np.isin(machines, list(judged))
    for name, predictor in PREDICTORS.items():
        tell(name, left(levels, machines, predictor), here, groups)
    tell("the other card of the start", beside(levels, machines), here, groups)
    perfect(starts, judged)
    limited(starts, judged)


if __name__ == "__main__":
    main()
