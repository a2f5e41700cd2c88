"""Why a stored baseline cannot find small slowdowns: what differs between processes, cards and starts of a machine.

    python benchmarks/between_starts.py benchmarks/rounds

Of the rounds that ``verdict_rounds.py`` has recorded: standard deviations of ln(seconds) by where they come from; what
is left of them when a card is held against the stored ones that it is like, or compared in clock cycles; and which
slowdowns the screen finds with how many stored campaigns (slowdowns added to recorded times: on this scale a planted
one is the same), on cards that are like them.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.retests import Starts, complete  # noqa: E402
from benchmarks.rounds_data import CLASSES, Round, kind, load  # noqa: E402
from benchmarks.screens import campaigns  # noqa: E402
from pytest_roofline.statistics import MINIMAL, middle  # noqa: E402
from pytest_roofline.statistics.screen import compare_run, expected  # noqa: E402

LIMITED = "power-limited"
NAMES = (*(name for _, name in CLASSES), LIMITED)
SLOWDOWNS = (0.02, 0.03, 0.04, 0.05, 0.10)
FEWEST = 3  # rounds of a card from which a level is known
WHOLE = 200  # cases of a card that can be compared with others
WORST = 12
BOUNDS = (0.001, 0.002, 0.003, 0.005, 0.01)


@dataclass(frozen=True)
class Levels:
    """Cases that every card has measured with the same code. Arrays are (cases, cards): ln of seconds and of the SM
    clock, medians over the rounds of a card; ``process`` the standard deviation among those rounds."""

    cases: Sequence[str]
    names: Sequence[str]
    machines: Sequence[str]
    seconds: np.ndarray
    clock: np.ndarray
    process: np.ndarray

    def of(self, name: str) -> np.ndarray:
        """Which cases are of a class."""
        return np.array([one == name for one in self.names])


def levels(starts: Starts) -> Levels:
    """Of the rounds over all cases."""
    cards = [rounds for found in starts.values() if len(rounds := complete(found)) >= FEWEST]
    cards = [rounds for rounds in cards if len(rounds[0].cases) > WHOLE]
    cases = [case for case in cards[0][0].cases if _everywhere(cards, case)]
    kept = {case: [_usable(rounds, case) for rounds in cards] for case in cases}
    logs = [[[one.summary(case).log_mean for one in rounds] for rounds in kept[case]] for case in cases]
    clocks = [[np.log(np.median([one.clock(case) for one in rounds])) for rounds in kept[case]] for case in cases]
    return Levels(
        cases,
        [_name([one for rounds in kept[case] for one in rounds], case) for case in cases],
        [rounds[0].machine for rounds in cards],
        np.array([[np.median(card) for card in case] for case in logs]),
        np.array(clocks),
        np.array([np.sqrt(np.mean([np.var(card, ddof=1) for card in case])) for case in logs]),
    )


def _usable(rounds: Sequence[Round], case: str) -> list[Round]:
    return [one for one in rounds if case in one.cases and one.clock(case) and case not in one.disturbed]


def _everywhere(cards: Sequence[Sequence[Round]], case: str) -> bool:
    """Whether every card has measured it undisturbed at least twice, and all the same code."""
    usable = [_usable(rounds, case) for rounds in cards]
    codes = {one.cases[case]["code"] for rounds in usable for one in rounds}
    return all(len(rounds) > 1 for rounds in usable) and len(codes) == 1


def _name(rounds: Sequence[Round], case: str) -> str:
    """Power-limited where the limit held the clock down in most rounds."""
    if np.mean([one.limited(case) for one in rounds]) > 0.5:
        return LIMITED
    return kind(float(np.median([one.cases[case]["seconds"] for one in rounds])))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    starts = {name: rounds for name, rounds in load(parser.parse_args().results).items() if rounds}
    found = levels(starts)
    print(f"{len(found.cases)} cases on {len(found.machines)} cards of {len(set(found.machines))} starts")
    components(found)
    explained(starts)
    cycles(found)
    for most in (2, 4, 6, 8, 10):
        screened(starts, most)


def components(found: Levels) -> None:
    """Where differences come from: medians over cases and the 90 % quantile, in percent.

    Those of cards and starts are between medians of a card's rounds, so that little of the processes is left in them.
    """
    own = _centred(found.seconds)
    alike = np.array([[a == b for b in found.machines] for a in found.machines])
    first, second = np.triu_indices(len(found.machines), 1)
    same = alike[first, second]
    print("\nStandard deviations of ln(seconds): median of cases (nine of ten are below)")
    for name in NAMES:
        mine = found.of(name)
        if not mine.any():
            continue
        pairs = (own[mine][:, first] - own[mine][:, second]) / np.sqrt(2)
        cards, others = (np.sqrt((pairs[:, which] ** 2).mean(1)) for which in (same, ~same))
        parts = {"processes": found.process[mine], "cards of a start": cards, "starts and cards": others}
        print(f"  {name}, {mine.sum()} cases: " + "; ".join(f"{k} {_two(v)}" for k, v in parts.items()))


def _two(values: np.ndarray) -> str:
    return f"{100 * np.median(values):.2f} % ({100 * np.quantile(values, 0.9):.2f})" if values.size else "none"


def _centred(logs: np.ndarray) -> np.ndarray:
    """Without the level of each case and what all cases of a card have in common."""
    own = logs - logs.mean(1, keepdims=True)
    return own - np.median(own, axis=0)


def explained(starts: Starts) -> None:
    """What is left of a card's levels, medians of its processes, when it is held against other starts: against the mean
    of their campaigns and against the mixture that the screen takes. Below, the kernels of which most is left."""
    before, after, kernels = defaultdict(list), defaultdict(list), defaultdict(list)
    for name, rounds in starts.items():
        stored, whole = campaigns(starts, name), complete(rounds)
        if len(whole) < FEWEST or stored.strange(stored.moved(whole[0])):
            continue
        moved, plain = stored.moved(whole[0]), stored.moved(whole[0]).seen
        for case in stored.runs:
            found = [one.summary(case) for one in _usable(whole, case)]
            value = stored.past.value(case, middle(found)) if len(found) >= FEWEST else None
            if value is None or len(stored.runs[case]) < FEWEST:
                continue
            group, (level, _, _) = _name(whole, case), expected(case, stored.past, moved.distances)
            before[group].append(value - stored.past.levels[case] - plain)
            after[group].append(value - level - plain)
            kernels[group, case].append(value - level - plain)
    print("\nLevels of cards like stored ones: median and 90 % quantile of what is left against their mean -> mixture")
    for group in NAMES:
        if after[group]:
            print(f"  {group}: {_two(abs(np.array(before[group])))} -> {_two(abs(np.array(after[group])))}")
    left = {key: float(np.sqrt(np.mean(np.square(some)))) for key, some in kernels.items() if len(some) >= FEWEST}
    print("  most is left of (root mean square)")
    for (group, case), rms in sorted(left.items(), key=lambda item: -item[1])[:WORST]:
        print(f"    {100 * rms:.2f} % {case} ({group})")
    for group in NAMES:
        mine = [rms for (g, _), rms in left.items() if g == group]
        if mine:
            shares = ", ".join(f"{100 * np.mean(np.array(mine) < by):.0f} % below {100 * by:.1f} %" for by in BOUNDS)
            print(f"  {group}, {len(mine)} kernels: {shares}")


def cycles(found: Levels) -> None:
    """Levels of power-limited cases in seconds, in cycles, and with an exponent of the clock in between."""
    mine = found.of(LIMITED)
    if not mine.any():
        return
    seconds, clock = (x[mine] - x[mine].mean(1, keepdims=True) for x in (found.seconds, found.clock))
    print("\nPower-limited: standard deviation of the level of ln(seconds) + b ln(clock)")
    for b in (0.0, 0.25, 0.5, 0.75, 1.0):
        print(f"  b = {b:.2f}: {_two((seconds + b * clock).std(1, ddof=1))}")


def screened(starts: Starts, most: int) -> None:
    """What the screen finds with so many campaigns."""
    hits: dict[str, list[np.ndarray]] = defaultdict(list)
    used = 0
    for name, rounds in starts.items():
        stored = campaigns(starts, name, most)
        used = max(used, len(stored.rounds))
        for one in complete(rounds):
            moved = stored.moved(one)
            for case in one.cases if not stored.strange(moved) else ():
                if case in stored.runs and case not in one.disturbed:
                    summary = one.summary(case)
                    low = compare_run(case, summary, stored.runs[case], stored.past, moved).low
                    hits[_class(one, case)].append(low * (1 + np.array((0.0, *SLOWDOWNS))) > 1 + MINIMAL)
    if used < most:
        return
    print(f"\nScreen with {used} campaigns: share of slowdowns found")
    for name in NAMES:
        if hits[name]:
            shares = np.mean(hits[name], 0)[1:]
            listed = ", ".join(
                f"{100 * by:.0f} %: {100 * share:.1f}" for by, share in zip(SLOWDOWNS, shares, strict=True)
            )
            print(f"  {name}, {len(hits[name])} runs: {listed}; alarms {int(np.sum(hits[name], 0)[0])}")


def _class(one: Round, case: str) -> str:
    return LIMITED if one.limited(case) else kind(one.cases[case]["seconds"])


if __name__ == "__main__":
    main()
