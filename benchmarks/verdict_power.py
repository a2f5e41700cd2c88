"""What the verdict finds and what it cries wolf about, on the rounds that ``verdict_rounds.py`` has recorded.

    python benchmarks/verdict_power.py RESULTS

Retest in pairs: four rounds of a start are one retest, those undecided go on with the rounds that follow; noise is
calibrated on four rounds outside of it. Screen: every round is a run, the first rounds of the other starts and cards
are the stored campaigns. Peers' rules: a round against the one before it. Every share has its 95 % interval (Clopper
and Pearson, 1934).
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import math
import pathlib
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peer_rules import bootstrap_rule, mean_rule, u_rule  # noqa: E402
from pytest_roofline.statistics import Summary, summarise  # noqa: E402
from pytest_roofline.statistics.noise import Prior, between_pairs  # noqa: E402
from pytest_roofline.statistics.paired import LOOKS, Outcome, decide, of_process, prior_of  # noqa: E402
from pytest_roofline.statistics.screen import compare_run, history, shift  # noqa: E402
from pytest_roofline.verdict import Kind, compare  # noqa: E402

CLASSES = ((20e-6, "from 20 us"), (5e-6, "5 to 20 us"), (0.0, "below 5 us"))
LIMITED = "power-limited"


@dataclass
class Round:
    """One process: what each case gave."""

    start: str
    id: str
    environment: dict[str, object]
    cases: dict[str, dict] = field(default_factory=dict)

    def number(self, case: str, planted: float) -> float | None:
        """ln of the variant over the kernel; ``None`` where it was not measured."""
        found = self.cases.get(case, {})
        if planted not in found.get("planted", ()):
            return None
        return of_process(found["differences"][found["planted"].index(planted)])

    def samples(self, case: str, planted: float | None) -> np.ndarray | None:
        """Seconds of the kernel (``None``) or of one of its variants."""
        found = self.cases.get(case, {})
        if "samples" not in found or (planted is not None and planted not in found["planted"]):
            return None
        return np.array(found["samples"][0 if planted is None else 1 + found["planted"].index(planted)])

    def summary(self, case: str, planted: float | None) -> Summary | None:
        """The same as a run of the plugin would be summarised."""
        samples = self.samples(case, planted)
        if samples is None:
            return None
        plain = summarise(list(samples))
        return Summary(plain.log_mean, plain.quantiles, plain.count, limited(self, case))


@dataclass
class Share:
    """So many of so many, with the interval that holds the true share in 95 % of cases."""

    hits: int = 0
    of: int = 0

    def add(self, hit: bool) -> None:
        """One more."""
        self.hits += hit
        self.of += 1

    def __str__(self) -> str:
        if not self.of:
            return "none"
        low, high = interval(self.hits, self.of)
        return f"{self.hits} of {self.of} = {100 * self.hits / self.of:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def interval(hits: int, of: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a share, by bisection on the binomial tail."""

    def tail(share: float, least: int) -> float:
        if share <= 0 or share >= 1:
            return float(share >= 1 or least <= 0)
        logs = [
            math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1)
            + k * math.log(share) + (of - k) * math.log1p(-share)
            for k in range(least, of + 1)
        ]  # fmt: skip
        return math.fsum(map(math.exp, logs))

    def solve(wanted: Callable[[float], bool]) -> float:
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if wanted(middle) else (middle, high)
        return (low + high) / 2

    lower = solve(lambda share: tail(share, hits) > 0.025) if hits else 0.0
    upper = solve(lambda share: 1 - tail(share, hits + 1) < 0.025) if hits < of else 1.0
    return lower, upper


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    starts = load(parser.parse_args().results)
    rounds = [one for found in starts.values() for one in found]
    print(f"{len(rounds)} rounds on {len(starts)} starts and cards, {len({c for r in rounds for c in r.cases})} cases")
    paired_table(starts)
    screen_table(starts)
    peers_table(starts)


def load(folder: pathlib.Path) -> dict[str, list[Round]]:
    """Rounds by start and card, in order. A line that was cut off ends its file."""
    starts: dict[str, list[Round]] = {}
    for path in sorted(folder.rglob("*.jsonl.gz")):
        rounds: dict[str, Round] = {}
        for line in _lines(path):
            if "environment" in line:
                rounds[line["round"]] = Round(path.name.split(".jsonl")[0], line["round"], line["environment"])
            elif "samples" in line:
                rounds[line["round"]].cases[line["case"]] = line
        starts.setdefault(path.name, []).extend(rounds.values())
    return starts


def _lines(path: pathlib.Path) -> Iterator[dict]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for text in file:
                yield json.loads(text)
    except (EOFError, json.JSONDecodeError):
        return


def limited(one: Round, case: str) -> bool:
    """Whether the power limit held the clocks down."""
    return "SwPowerCap" in one.cases[case]["reasons"]


def same_code(one: Round, other: Round, case: str) -> bool:
    """Whether both measured the same machine code, as far as it is known."""
    first, second = (r.cases.get(case, {}).get("code") for r in (one, other))
    return case in one.cases and case in other.cases and first == second


def kind(found: dict) -> str:
    """The class of a case by its time."""
    return next(name for start, name in CLASSES if found["seconds"] >= start)


def paired_table(starts: dict[str, list[Round]]) -> None:
    """Retests of unchanged kernels and of planted slowdowns."""
    print("\nretest in pairs, looks after", ", ".join(map(str, LOOKS)))
    false, found, open_, runs = defaultdict(Share), defaultdict(Share), defaultdict(Share), 0
    for rounds in starts.values():
        for first in range(0, len(rounds) - LOOKS[0] + 1, LOOKS[0]):
            chain = rounds[first:] + rounds[:first]
            calibration = chain[LOOKS[0] : 2 * LOOKS[0]] if len(rounds) >= 2 * LOOKS[0] else []
            prior = calibrated_prior(calibration or chain[: LOOKS[0]])
            runs += 1
            for case, planted, name in variants(chain[0]):
                outcome = verdict(chain, case, planted, prior, calibration)
                if outcome is None:
                    continue
                if planted:
                    found[name, planted].add(outcome is Outcome.SLOWER)
                    open_[name, planted].add(outcome is Outcome.UNDECIDED)
                else:
                    false[name].add(outcome in (Outcome.SLOWER, Outcome.FASTER))
    total = sum(share.hits for share in false.values())
    print(f"  unchanged: {runs} runs, {total} called slower or faster; by class " + _joined(false))
    for (name, planted), share in sorted(found.items()):
        print(f"  planted {100 * planted:.0f} %, {name}: found {share}; undecided {open_[name, planted].hits}")


def calibrated_prior(rounds: Sequence[Round]) -> Prior:
    """From the pairs of unchanged kernels in these rounds."""
    pairs = []
    for case, found in rounds[0].cases.items():
        numbers = [number for one in rounds if (number := one.number(case, 0.0)) is not None]
        pairs.append((between_pairs(found["seconds"], power_limited=limited(rounds[0], case)), numbers))
    return prior_of(pairs)


def verdict(
    chain: Sequence[Round], case: str, planted: float, prior: Prior, calibration: Sequence[Round]
) -> Outcome | None:
    """What a retest of that case says that starts with the first of these rounds."""
    numbers = [number for one in chain if (number := one.number(case, planted)) is not None]
    known = [number for one in calibration if (number := one.number(case, 0.0)) is not None]
    outcome = None
    for look in LOOKS:
        if len(numbers) < look:
            break
        capped = limited(chain[0], case)
        outcome = decide(chain[0].cases[case]["seconds"], numbers[:look], prior, known, power_limited=capped).outcome
        if outcome is not Outcome.UNDECIDED:
            break
    return outcome


def variants(one: Round) -> Iterator[tuple[str, float, str]]:
    """Every case and slowdown of a round, and its class."""
    for case, found in one.cases.items():
        for planted in found["planted"]:
            yield case, planted, kind(found)


def screen_table(starts: dict[str, list[Round]]) -> None:
    """Each round as a run against the first rounds of the other starts and cards."""
    campaigns = len(starts) - 1
    if campaigns < 1:
        print("\nscreen: it needs rounds of two starts or cards")
        return
    print(f"\nscreen against {campaigns} stored campaigns{'' if campaigns >= 5 else ', provisional'}")
    false, found, width = defaultdict(Share), defaultdict(Share), defaultdict(list)
    for start, rounds in starts.items():
        others = {name: other[0] for name, other in starts.items() if name != start}
        stored = {
            case: {
                n: s
                for n, other in others.items()
                if same_code(other, rounds[0], case) and (s := other.summary(case, None))
            }
            for case in rounds[0].cases
        }
        stored = {case: runs for case, runs in stored.items() if runs}
        past = history(stored)
        for one in rounds:
            current = {case: s for case in stored if (s := one.summary(case, None)) is not None}
            moved = shift(current, past)
            for case in current:
                capped = any(s.power_limited for s in (*stored[case].values(), current[case]))
                name = LIMITED if capped else kind(one.cases[case])
                for planted in (None, *(p for p in one.cases[case]["planted"] if p)):
                    summary = one.summary(case, planted)
                    change = compare_run(case, summary, stored[case], past, moved)
                    hit = compare(change, campaigns).kind is Kind.REGRESSION
                    (false[name] if planted is None else found[name, planted]).add(hit)
                    width[name].append(change.detectable)
    print(f"  unchanged: {sum(map(len, starts.values()))} runs, called slower: " + _joined(false))
    for (name, planted), share in sorted(found.items()):
        print(f"  planted {100 * planted:.0f} %, {name}: found {share}")
    for name, values in sorted(width.items()):
        print(f"  smallest slowdown shown in 99 %, {name}: median {100 * np.median(values):.1f} %")


def peers_table(starts: dict[str, list[Round]]) -> None:
    """The rules of others on the same samples: a round against the one before it, on the same start."""
    rng = np.random.default_rng(1)
    rules = {
        "pytest-benchmark mean:5%": mean_rule,
        "U test, 0.05": u_rule,
        "bootstrap of one run": lambda a, b: bootstrap_rule(a, b, rng),
    }
    print("\npeers' rules, a round against the one before it")
    for name, rule in rules.items():
        shares: dict[float, Share] = defaultdict(Share)
        for rounds in starts.values():
            for before, after in itertools.pairwise(rounds):
                for case, planted, _ in variants(after):
                    old, new = before.samples(case, None), after.samples(case, planted or None)
                    if old is not None and new is not None:
                        shares[planted].add(rule(old, new))
        alarms = shares[0.0]
        per_run = f"{400 * alarms.hits / alarms.of:.1f} alarms in 400 cases" if alarms.of else ""
        print(f"  {name}: unchanged {alarms} ({per_run})")
        for planted, share in sorted(shares.items()):
            if planted:
                print(f"    planted {100 * planted:.0f} %: found {share}")


def _joined(shares: dict[str, Share]) -> str:
    return "; ".join(f"{name} {share}" for name, share in sorted(shares.items()))


if __name__ == "__main__":
    main()
