"""What the verdict finds and what it cries wolf about, on the rounds that ``verdict_rounds.py`` has recorded.

    python benchmarks/verdict_power.py benchmarks/rounds [--held-out 1234abcd 5678ef01]    # of these starts alone

Retest in pairs: the rounds of a start and card that plant the same slowdown are one retest, calibrated on four rounds
of every card on other starts. Nights: every round is a run, the first rounds on other starts are the stored campaigns,
and the screen's suspects are decided by a retest in rounds of the same start. Stored campaigns alone: suspects are
decided by the median of five rounds. Rules of others: a run against one of another start, and against the round before
it. Every share has its 95 % interval.
"""

from __future__ import annotations

import itertools
import pathlib
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peer_rules import bootstrap_rule, mean_rule, u_rule  # noqa: E402
from benchmarks.retests import Starts, calibrated, complete, planted_in, retest  # noqa: E402
from benchmarks.round_tables import after, class_of, name_of, rows, several  # noqa: E402
from benchmarks.rounds_data import Round, asked  # noqa: E402
from benchmarks.screens import campaigns  # noqa: E402
from benchmarks.shares import Share  # noqa: E402
from benchmarks.stored_alone import alone  # noqa: E402
from pytest_roofline.attribution import settle  # noqa: E402
from pytest_roofline.retest.choice import worth  # noqa: E402
from pytest_roofline.retest.settings import SUSPECTS  # noqa: E402
from pytest_roofline.statistics import alarm  # noqa: E402
from pytest_roofline.statistics.paired import LOOKS, Decision, Outcome  # noqa: E402
from pytest_roofline.verdict import Kind  # noqa: E402

Shares = dict[tuple[str, float], Share]


def main() -> None:
    """Print the tables."""
    starts, held_out = asked(__doc__)
    judged = [name for name in starts if not held_out or name.startswith(tuple(held_out))]
    full = [one for name in judged for one in complete(starts[name])]
    cases = len({case for one in full for case in one.cases})
    machines = len({one.machine for one in full})
    print(f"{len(full)} whole rounds, {machines} starts of the machine, {len(judged)} with cards, {cases} cases")
    for table in (paired, nights, alone, peers):
        print(flush=True)
        table(starts, judged)


def chains(rounds: Sequence[Round]) -> Iterator[list[Round]]:
    """The rounds of each turn that reached the first look: one retest of every case."""
    for turn in sorted({one.turn for one in rounds}):
        found = [one for one in rounds if one.turn == turn]
        if sum(not one.partial for one in found) >= LOOKS[0]:
            yield found


def paired(starts: Starts, judged: Collection[str]) -> None:
    """Retests of unchanged kernels and of planted slowdowns, all cases."""
    found: dict[tuple[str, float], list[Outcome]] = defaultdict(list)
    runs = 0
    for name in judged:
        rounds = starts[name]
        known = calibrated(starts, name)
        for chain in chains(rounds):
            runs += 1
            for case, planted in variants(chain):
                decision = retest(chain, case, planted, known)
                if decision is not None:
                    found[class_of(rounds, case), planted].append(None if cut_off(decision) else decision.outcome)
    print(f"Retest in pairs, every case, {runs} times:")
    rows(found, Outcome.SLOWER, Outcome.FASTER, Outcome.UNDECIDED)


def cut_off(decision: Decision) -> bool:
    """Whether the recording ended before the retest did."""
    return decision.outcome is Outcome.UNDECIDED and decision.processes < LOOKS[-1]


def variants(rounds: Sequence[Round]) -> Iterator[tuple[str, float]]:
    """Every case of the rounds of a turn, unchanged and slowed."""
    for case, planted in planted_in(rounds).items():
        yield from ((case, 0.0), (case, planted))


def nights(starts: Starts, judged: Collection[str]) -> None:
    """Runs as a night makes them: a round is screened against other starts, its suspects are retested in the rounds of
    the same start after it and before it. Every kernel counts as one whose code has changed."""
    if not several(starts):
        return
    found: dict[tuple[str, float], list[Kind]] = defaultdict(list)
    runs, suspects = 0, Share()
    for name in judged:
        rounds = starts[name]
        stored, known = campaigns(starts, name), calibrated(starts, name)
        for one in complete(rounds):
            runs, moved = runs + 1, stored.moved(one)
            for case, planted in variants([one]):
                if case not in stored.runs or case in one.disturbed:
                    continue
                verdict = stored.verdict(one, case, one.summary(case, planted), moved, clock=one.clock(case, planted))
                seconds = one.cases[case]["seconds"]
                suspect = worth(verdict, seconds, SUSPECTS, old=True)
                if suspect:
                    decision = retest(after(rounds, one), case, planted, known, alarm(len(stored.runs)))
                    if decision is None:  # recorded in fewer rounds than a look needs
                        continue
                    verdict = settle(verdict, decision, "the old kernel")
                cut = suspect and cut_off(decision)
                found[class_of(rounds, case), planted].append(None if cut else verdict.kind)
                if not planted:
                    suspects.add(suspect)
    print(f"Nights, screen and retest of suspects, {runs} runs; suspects {suspects}:")
    rows(found, Kind.REGRESSION, Kind.IMPROVEMENT, Kind.UNRESOLVED)


def peers(starts: Starts, judged: Collection[str]) -> None:
    """The rules of others on the same samples."""
    rng = np.random.default_rng(1)
    rules = {
        "pytest-benchmark mean:5%": mean_rule,
        "U test, 0.05": u_rule,
        "bootstrap of one run": lambda a, b: bootstrap_rule(a, b, rng),
    }
    for title, pairs in (
        ("another start", list(_other_starts(starts, judged))),
        ("the round before", list(_before(starts, judged))),
    ):
        if not pairs:
            continue
        print(f"Rules of others, a run against {title}, {len(pairs)} times:")
        for name, rule in rules.items():
            shares: Shares = defaultdict(Share)
            for old, new in pairs:
                for case, planted in variants([new]):
                    before, after = old.samples(case, 0.0), new.samples(case, planted)
                    disturbed = case in old.disturbed or case in new.disturbed
                    if before is not None and not disturbed and old.cases[case]["code"] == new.cases[case]["code"]:
                        shares[name_of(new, case), planted].add(rule(before, after))
            _peer_lines(name, shares)


def _peer_lines(name: str, shares: Shares) -> None:
    alarms, cases = (sum(getattr(s, part) for (_, p), s in shares.items() if not p) for part in ("hits", "of"))
    print(f"  {name}: {alarms} of {cases} unchanged, {400 * alarms / max(cases, 1):.1f} alarms in 400 cases")
    for (group, planted), share in sorted(shares.items(), key=lambda item: (item[0][1], item[0][0])):
        if planted:
            print(f"    {group}, +{100 * planted:.0f} %: {share}")


def _other_starts(starts: Starts, judged: Collection[str]) -> Iterator[tuple[Round, Round]]:
    """Every run, and the first one of the start before it."""
    names = sorted(starts, key=lambda name: starts[name][0].id)
    for name in judged:
        others = [n for n in names if starts[n][0].machine != starts[name][0].machine]
        if others:
            old = starts[others[names.index(name) % len(others)]][0]
            yield from ((old, new) for new in complete(starts[name]))


def _before(starts: Starts, judged: Collection[str]) -> Iterator[tuple[Round, Round]]:
    for name in judged:
        yield from itertools.pairwise(complete(starts[name]))


if __name__ == "__main__":
    main()
