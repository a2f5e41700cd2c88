"""How heavy the tails of the simulation must be: fitted to recorded rounds.

    python benchmarks/simulated_tails.py benchmarks/rounds

Every card is held against the mixture of those of other starts that it is like, as the screen does. What is left of a
kernel's level, over the standard deviation of what is left of it on other starts, is of no unit and of no scale, so its
distribution tells the tails alone. The same is done to simulated suites with Student's t of some degrees of freedom and
with the same gaps; the likelihood of the recorded counts between :data:`EDGES` chooses among them, and resampling
kernels gives the interval. Power-limited kernels and the start whose cards were like no other are left out.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.retests import Starts, complete  # noqa: E402
from benchmarks.rounds_data import Round, load  # noqa: E402
from benchmarks.screens import campaigns  # noqa: E402
from benchmarks.simulated_suite import CASES, Suite  # noqa: E402
from pytest_roofline.statistics.likeness import fit  # noqa: E402
from pytest_roofline.statistics.noise import between_runs  # noqa: E402

EDGES = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, np.inf])
FREEDOMS = (3.0, 3.5, 4.0, 4.5, 5.0, 6.0)
PROCESSES = 5  # whose median is a card's level
KNOWN = 8  # cards of other starts, from which their standard deviation is known
SUITES = 30  # that are simulated for each
RESAMPLED = 1000


def recorded(starts: Starts) -> tuple[np.ndarray, np.ndarray]:
    """Levels of ln(seconds), (cases, cards), NaN where a card did not measure the same code, and the cards' starts."""
    cards = [complete(found) for name, found in starts.items() if not _strange(starts, name)]
    names = sorted({case for rounds in cards for one in rounds for case in one.cases})
    rows = [row for case in names if (row := _levels(cards, case)) is not None]
    return np.array(rows), np.array([rounds[0].machine for rounds in cards])


def _strange(starts: Starts, name: str) -> bool:
    stored, whole = campaigns(starts, name), complete(starts[name])
    return not whole or any(stored.strange(stored.moved(one)) for one in whole)


def _levels(cards: Sequence[Sequence[Round]], case: str) -> list[float] | None:
    """Of the code that most cards have measured; ``None`` for a power-limited kernel."""
    there = [[one for one in rounds if case in one.cases and case not in one.disturbed] for rounds in cards]
    codes = Counter(one.cases[case]["code"] for rounds in there for one in rounds)
    if not codes or np.mean([one.limited(case) for rounds in there for one in rounds]) > 0.5:
        return None
    code = codes.most_common(1)[0][0]
    logs = [[one.summary(case).log_mean for one in rounds if one.cases[case]["code"] == code] for rounds in there]
    return [float(np.median(some[:PROCESSES])) if len(some) > 2 else np.nan for some in logs]


def ratios(levels: np.ndarray, machines: np.ndarray) -> np.ndarray:
    """What is left of each level over the standard deviation of what is left on other starts, NaN for too few."""
    own = left(levels, machines)
    found = np.full(levels.shape, np.nan)
    for card, machine in enumerate(machines):
        others = own[:, machines != machine]
        count = np.isfinite(others).sum(1)
        scatter = np.sqrt(np.nansum(others**2, axis=1) / np.maximum(count, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            found[:, card] = np.where(count >= KNOWN, abs(own[:, card]) / scatter, np.nan)
    return found


def left(levels: np.ndarray, machines: np.ndarray) -> np.ndarray:
    """What each card's levels differ by from the mixture of those on other starts, over how well that is known."""
    centred = levels - np.nanmean(levels, axis=1, keepdims=True)
    shifts = np.nanmedian(centred, axis=0)
    names = [f"card{k}" for k in range(len(machines))]
    values = {
        f"case{i}": {name: float(x) for name, x in zip(names, row - shifts, strict=True) if np.isfinite(x)}
        for i, row in enumerate(levels)
    }
    stated = {case: between_runs(float(np.exp(np.nanmean(row)))) for case, row in zip(values, levels, strict=True)}
    known = fit(values, stated, dict(zip(names, map(str, machines), strict=True)))
    found = np.full(levels.shape, np.nan)
    for card, name in enumerate(names):
        near = known.near(name)
        for row, (case, runs) in enumerate(values.items()):
            expected = known.expected(case, near) if name in runs else None
            if expected is not None:
                found[row, card] = (runs[name] - expected[0]) / np.sqrt(expected[1])
    return found - np.nanmedian(found, axis=0)


def counts(found: np.ndarray) -> np.ndarray:
    """Of each case, how many ratios lie between the edges: (cases, bins)."""
    return np.array([np.histogram(row[np.isfinite(row)], EDGES)[0] for row in found])


def expected(rng: np.random.Generator, freedom: float, levels: np.ndarray, machines: np.ndarray) -> np.ndarray:
    """The share of ratios in each bin for simulated suites with those gaps."""
    total = np.zeros(len(EDGES) - 1)
    for _ in range(SUITES):
        suite = Suite(rng, 1, freedom=freedom)
        own = np.median(suite.processes(len(machines), PROCESSES)[0], axis=2)
        drawn = np.log(suite.seconds)[:, None] + suite.levels(len(machines))[0] + own
        drawn[~np.isfinite(levels[rng.integers(0, len(levels), CASES)])] = np.nan
        limited = np.array([one.limited for one in suite.noise])[suite.kind]
        total += counts(ratios(drawn[~limited], machines)).sum(0)
    return np.maximum(total, 0.5) / total.sum()


def main() -> None:
    """Print the shares, the most likely degrees of freedom, and their interval."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    starts = {name: rounds for name, rounds in load(parser.parse_args().results).items() if rounds}
    levels, machines = recorded(starts)
    kept = np.isfinite(levels).sum(1) > KNOWN
    levels, rng = levels[kept], np.random.default_rng(1)
    seen = counts(ratios(levels, machines))
    print(f"{len(levels)} kernels on {len(machines)} cards of {len(set(machines))} starts: {seen.sum()} levels")
    _tell("recorded", seen.sum(0) / seen.sum())
    logs = []
    for freedom in FREEDOMS:
        shares = expected(rng, freedom, levels, machines)
        logs.append(np.log(shares))
        _tell(f"t {freedom:g}", shares)
    likely = lambda some: FREEDOMS[int(np.argmax(np.array(logs) @ some))]  # noqa: E731
    drawn = [likely(seen[rng.integers(0, len(seen), len(seen))].sum(0)) for _ in range(RESAMPLED)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    print(f"most likely: {likely(seen.sum(0)):g} degrees of freedom ({low:g} to {high:g})")


def _tell(name: str, shares: np.ndarray) -> None:
    beyond = np.cumsum(shares[::-1])[::-1]
    told = (f"{100 * share:.2f} % beyond {edge:g}" for edge, share in zip(EDGES[1:-1], beyond[1:], strict=True))
    print(f"  {name}: {', '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
