"""What the verdict finds and what it cries wolf about, on the rounds that ``verdict_rounds.py`` has recorded.

    python benchmarks/verdict_power.py benchmarks/rounds

Retest in pairs: the rounds of a start and card that plant the same slowdown are one retest, calibrated on four rounds
of every card on other starts. Nights: every round is a run, the first rounds on other starts are the stored campaigns,
and the screen's suspects are decided by a retest in rounds of the same start. Stored campaigns alone: suspects are
decided by the median of five rounds. Rules of others: a run against one of another start, and against the round before
it. Every share has its 95 % interval.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peer_rules import bootstrap_rule, mean_rule, u_rule  # noqa: E402
from benchmarks.retests import Calibration, Starts, calibration, complete, planted_in, retest  # noqa: E402
from benchmarks.rounds_data import Round, kind, load  # noqa: E402
from benchmarks.screens import Campaigns, campaigns, slowed  # noqa: E402
from benchmarks.shares import Share, count_limit  # noqa: E402
from pytest_roofline.retest.choice import worth  # noqa: E402
from pytest_roofline.retest.session import FRESH  # noqa: E402
from pytest_roofline.retest.settings import SUSPECTS  # noqa: E402
from pytest_roofline.statistics import Summary, alarm, middle  # noqa: E402
from pytest_roofline.statistics.paired import LOOKS, Decision, Outcome  # noqa: E402
from pytest_roofline.statistics.screen import Shift  # noqa: E402
from pytest_roofline.verdict import Kind, settle  # noqa: E402

LIMITED = "power-limited"
ADDED = (0.02, 0.03, 0.04, 0.05, 0.10)
Shares = dict[tuple[str, float], Share]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    starts = {name: rounds for name, rounds in load(parser.parse_args().results).items() if rounds}
    full = [one for rounds in starts.values() for one in complete(rounds)]
    machines = len({one.machine for one in full})
    cases = len({case for one in full for case in one.cases})
    print(
        f"{len(full)} rounds over all cases, {machines} starts of the machine, {len(starts)} with cards, {cases} cases"
    )
    for table in (paired, nights, alone, peers):
        print()
        table(starts)


def name_of(one: Round, case: str) -> str:
    """The class that a case counts to."""
    return kind(one.cases[case]["seconds"])


def calibrated(starts: Starts, name: str) -> Calibration:
    """What four processes of each card on other starts have shown of the pairs of unchanged kernels."""
    machine = starts[name][0].machine
    others = [r for r in starts.values() if r[0].machine != machine and len(complete(r)) >= LOOKS[0]]
    return calibration(others or [starts[name]])


def chains(rounds: Sequence[Round]) -> Iterator[list[Round]]:
    """The rounds of each turn that reached the first look: one retest of every case."""
    for turn in sorted({one.turn for one in rounds}):
        found = [one for one in rounds if one.turn == turn]
        if sum(not one.partial for one in found) >= LOOKS[0]:
            yield found


def paired(starts: Starts) -> None:
    """Retests of unchanged kernels and of planted slowdowns, all cases."""
    found: dict[tuple[str, float], list[Outcome]] = defaultdict(list)
    runs = 0
    for name, rounds in starts.items():
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


def variants(rounds: Sequence[Round]) -> Iterator[tuple[str, float]]:
    """Every case of the rounds of a turn, unchanged and slowed."""
    for case, planted in planted_in(rounds).items():
        yield from ((case, 0.0), (case, planted))


def alone(starts: Starts) -> None:
    """Each round as a run against the stored campaigns alone; what seems slower is measured again in the next four
    rounds of the card, as in fresh processes. Beside planted slowdowns some are added to the recorded times."""
    if not several(starts):
        return
    found: dict[tuple[str, float], list[Kind]] = defaultdict(list)
    added: dict[tuple[str, float], list[Kind]] = defaultdict(list)
    runs, counts = 0, []
    for name, rounds in starts.items():
        stored, whole = campaigns(starts, name), complete(rounds)
        counts.append(len(stored.rounds))
        for one in whole:
            runs, moved = runs + 1, stored.moved(one)
            fresh = [one, *after(whole, one)[:FRESH]]
            for case in stored.runs:
                if case not in one.cases or case in one.disturbed:
                    continue
                group, planted = class_of(whole, case), one.planted(case) or 0.0
                for by in (0.0, *ADDED):
                    chain = [slowed(s, by) for r in fresh if case not in r.disturbed and (s := r.summary(case))]
                    added[group, by].append(_judged(stored, one, case, chain, moved))
                chain = [s for r in fresh if case not in r.disturbed and (s := r.summary(case, planted))]
                found[group, planted].append(_judged(stored, one, case, chain, moved, one.clock(case, planted)))
    print(f"Stored campaigns alone ({min(counts)} to {max(counts)}), {runs} runs, slowdowns added to recorded times:")
    rows(added, Kind.REGRESSION, Kind.IMPROVEMENT, Kind.UNRESOLVED)
    print("The same, planted on the device:")
    rows(found, Kind.REGRESSION, Kind.IMPROVEMENT, Kind.UNRESOLVED)


def _judged(
    stored: Campaigns, one: Round, case: str, chain: Sequence[Summary], moved: Shift, clock: float | None = None
) -> Kind:
    """The verdict of a run whose fresh processes are the rest of a chain, if it comes to them."""
    verdict = stored.verdict(one, case, chain[0], moved, clock=clock)
    if worth(verdict, one.cases[case]["seconds"], SUSPECTS, old=False):
        verdict = stored.verdict(one, case, middle(chain), moved, clock=clock)
    return verdict.kind


def class_of(rounds: Sequence[Round], case: str) -> str:
    """The class that a case counts to. Power-limited kernels count on their own: their times follow their clocks."""
    mine = [one for one in rounds if case in one.cases]
    return LIMITED if sum(one.limited(case) for one in mine) > len(mine) / 2 else name_of(mine[0], case)


def several(starts: Starts) -> bool:
    """Whether there are two starts of the machine, one to be held against the other."""
    return len({rounds[0].machine for rounds in starts.values()}) > 1


def nights(starts: Starts) -> None:
    """Runs as a night makes them: a round is screened against other starts, its suspects are retested in the rounds of
    the same start after it and before it. Every kernel counts as one whose code has changed."""
    if not several(starts):
        return
    found: dict[tuple[str, float], list[Kind]] = defaultdict(list)
    runs, suspects = 0, Share()
    for name, rounds in starts.items():
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


def after(rounds: Sequence[Round], one: Round) -> list[Round]:
    """The others in turn from the one after it on, and itself last: four rounds are as many as a retest needs."""
    place = rounds.index(one)
    return [*rounds[place + 1 :], *rounds[:place], one]


def peers(starts: Starts) -> None:
    """The rules of others on the same samples."""
    rng = np.random.default_rng(1)
    rules = {
        "pytest-benchmark mean:5%": mean_rule,
        "U test, 0.05": u_rule,
        "bootstrap of one run": lambda a, b: bootstrap_rule(a, b, rng),
    }
    for title, pairs in (("another start", list(_other_starts(starts))), ("the round before", list(_before(starts)))):
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


def _other_starts(starts: Starts) -> Iterator[tuple[Round, Round]]:
    """Every run, and the first one of the start before it."""
    names = sorted(starts, key=lambda name: starts[name][0].id)
    for name in names:
        others = [n for n in names if starts[n][0].machine != starts[name][0].machine]
        if others:
            old = starts[others[names.index(name) % len(others)]][0]
            yield from ((old, new) for new in complete(starts[name]))


def _before(starts: Starts) -> Iterator[tuple[Round, Round]]:
    for rounds in starts.values():
        yield from itertools.pairwise(complete(rounds))


if __name__ == "__main__":
    main()
