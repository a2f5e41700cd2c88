"""Simulation of the verdict and of the rules of others on a suite of 400 unchanged kernels, and of planted slowdowns.

    python benchmarks/detectors.py [--rounds RESULTS] [--campaigns 20000]

False alarms as rare as one in 40,000 comparisons cannot be measured, they have to be simulated. The noise is that of an
H200 (``NOISE``), or fitted to recorded rounds (``verdict_rounds.py``): a level of each start of the machine, of each
process, of each pair in a process, all with heavy tails (Student's t, 5 degrees of freedom), a shift of each campaign,
jitter within a run, and a share of cases that some processes find in a slow state. The rules are those of
``pytest_roofline.statistics``, written for many campaigns at once; at the start both are held against each other.
"""

from __future__ import annotations

import argparse
import math
import pathlib
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peer_rules import bootstrap_rule, mean_rule, u_rule  # noqa: E402
from benchmarks.retests import complete  # noqa: E402
from benchmarks.rounds_data import Round, kind, load  # noqa: E402
from benchmarks.shares import count_limit  # noqa: E402
from pytest_roofline.retest.session import FRESH  # noqa: E402
from pytest_roofline.statistics import MINIMAL, noise  # noqa: E402
from pytest_roofline.statistics import paired as pairing  # noqa: E402
from pytest_roofline.statistics import screen as screening  # noqa: E402
from pytest_roofline.statistics.distributions import digamma, student_quantile, trigamma, trigamma_inverse  # noqa: E402
from pytest_roofline.statistics.noise import Prior, between_pairs, between_runs, fit_prior  # noqa: E402
from pytest_roofline.statistics.paired import LOOKS  # noqa: E402

LIMITED = "power-limited"
CASES, SAMPLES = 400, 40
CHUNK = 100  # campaigns that are simulated at once
PEERS = 5  # campaigns of the others' rules, which raise alarms in each
SLOWDOWNS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.10)


@dataclass(frozen=True)
class Class:
    """Kernels of about ``seconds``, a ``share`` of the suite; standard deviations of ln t between starts, processes of
    a start, pairs of a process, and samples of a run. Of a case they are those times exp(``spread`` z), with ``apart``
    for its pairs."""

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


# As fitted to the rounds of five starts of H200 machines, two cards each (``benchmarks/rounds/``).
NOISE = (
    Class("from 20 us", 0.60, 132e-6, 0.0024, 0.0027, 0.0009, 0.0029, 0.75, 0.64),
    Class("below 5 us", 0.17, 1.9e-6, 0.0055, 0.0027, 0.0015, 0.0047, 0.42, 0.22),
    Class("power-limited", 0.13, 841e-6, 0.0098, 0.0166, 0.0011, 0.0095, 0.63, 0.68, limited=True),
    Class("5 to 20 us", 0.10, 9.0e-6, 0.0027, 0.0026, 0.0015, 0.0043, 0.48, 0.21),
)
CAMPAIGN = 0.001  # standard deviation of what a whole campaign has in common
SLOW_SHARE, SLOW_CHANCE, SLOW = 0.02, 0.1, 0.01  # cases with a slow state, how often a process has it, how slow


@dataclass
class Suite:
    """Cases of so many campaigns, drawn once: (campaigns, cases) arrays of standard deviations."""

    rng: np.random.Generator
    campaigns: int
    noise: tuple[Class, ...] = NOISE

    def __post_init__(self) -> None:
        counts = [round(c.share * CASES) for c in self.noise]
        counts[0] += CASES - sum(counts)
        self.kind = np.repeat(np.arange(len(counts)), counts)
        shape = (self.campaigns, CASES)
        at = lambda name: np.array([getattr(c, name) for c in self.noise])[self.kind]  # noqa: E731
        spread, apart = (np.exp(at(name) * self.rng.standard_normal(shape)) for name in ("spread", "apart"))
        self.seconds = at("seconds")
        self.start, self.process, self.jitter = (at(name) * spread for name in ("start", "process", "jitter"))
        self.pair = at("pair") * apart
        limited = at("limited")
        both = list(zip(self.seconds, limited, strict=True))
        self.stated_runs = np.array([between_runs(s, power_limited=bool(flag)) for s, flag in both])
        self.stated_pairs = np.array([between_pairs(s, power_limited=bool(flag)) for s, flag in both])
        self.stuck = self.rng.random(shape) < SLOW_SHARE

    def heavy(self, *shape: int) -> np.ndarray:
        """Student's t with 5 degrees of freedom, variance 1."""
        return self.rng.standard_t(5, shape) / math.sqrt(5 / 3)

    def runs(self, count: int) -> np.ndarray:
        """ln t of one run of each of ``count`` campaigns, about the case's level."""
        return self.levels(count) + self.processes(count)

    def levels(self, count: int) -> np.ndarray:
        """What all processes of a campaign have in common."""
        own = self.heavy(self.campaigns, CASES, count) * self.start[..., None]
        return own + CAMPAIGN * self.heavy(self.campaigns, 1, count)

    def processes(self, count: int) -> np.ndarray:
        """What each process has of its own."""
        shape = (self.campaigns, CASES, count)
        slow = self.stuck[..., None] & (self.rng.random(shape) < SLOW_CHANCE)
        return self.heavy(*shape) * self.process[..., None] + SLOW * slow

    def pairs(self, count: int) -> np.ndarray:
        """ln(new / old) of each process; half of the cases with a slow state have it in one of the two alone."""
        shape = (self.campaigns, CASES, count)
        alone = self.stuck[..., None] & (self.rng.random((self.campaigns, CASES, 1)) < 0.5)
        slow = alone & (self.rng.random(shape) < SLOW_CHANCE)
        return self.heavy(*shape) * self.pair[..., None] + SLOW * slow * self.rng.choice([-1, 1], shape)


def priors(variances: np.ndarray, degrees: int) -> tuple[np.ndarray, np.ndarray]:
    """Scale and degrees of freedom of each campaign's prior, as ``noise.fit_prior`` finds them."""
    raw = np.log(np.maximum(variances, noise.NO_VARIANCE))
    middle = np.median(raw, 1, keepdims=True)
    scatter = np.maximum(1.4826 * np.median(abs(raw - middle), 1, keepdims=True), 0.5)
    usual = raw <= middle + noise.OUTLYING * scatter
    logs = raw - digamma(degrees / 2) + math.log(degrees / 2)
    count = usual.sum(1)
    mean = np.where(usual, logs, 0.0).sum(1) / count
    spread = np.where(usual, (logs - mean[:, None]) ** 2, 0.0).sum(1) / (count - 1)
    excess = spread - trigamma(degrees / 2)
    freedom = np.array([max(noise.FEWEST_DEGREES, 2 * trigamma_inverse(x)) if x > 0 else math.inf for x in excess])
    offset = np.array([digamma(d / 2) - math.log(d / 2) if math.isfinite(d) else 0.0 for d in freedom])
    return np.exp(mean + offset), freedom


def moderated(scale: np.ndarray, freedom: np.ndarray, own: np.ndarray, degrees: int) -> tuple[np.ndarray, np.ndarray]:
    """Variances in units of the stated one and their degrees of freedom."""
    finite = np.where(np.isfinite(freedom), freedom, 1.0)[:, None]
    mixed = (finite * scale[:, None] + degrees * own) / (finite + degrees)
    return np.where(np.isfinite(freedom)[:, None], mixed, scale[:, None]), freedom + degrees


def quantiles(tail: float, freedom: np.ndarray) -> np.ndarray:
    """Student's quantile of every campaign."""
    return np.array([student_quantile(tail, d) for d in freedom])[:, None]


def screen(suite: Suite, stored: int) -> tuple[np.ndarray, np.ndarray, Callable[[float], np.ndarray]]:
    """Difference of one more run from so many stored ones, the same with the median of it and of four fresh processes,
    and half of its interval by the chance beside it."""
    old, new = suite.runs(stored), suite.levels(1) + suite.processes(1 + FRESH)
    old = old - np.median(old - old.mean(2, keepdims=True), axis=1, keepdims=True)
    moved = new[..., 0] - old.mean(2)
    shift = np.median(moved, axis=1, keepdims=True)
    difference, again = moved - shift, np.median(new, axis=2) - old.mean(2) - shift
    stated = suite.stated_runs
    own = old.var(2, ddof=1) / stated**2
    scale, freedom = priors(own, stored - 1)
    variance, degrees = moderated(scale, freedom, own, stored - 1)
    error = np.sqrt(variance * (1 + 1 / stored)) * stated
    return difference, again, lambda tail: quantiles(tail, degrees) * error


def retest(suite: Suite, slowdown: float, calibrated: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Verdict of each case (1 slower, -1 faster, 0 same, 9 undecided) and after how many processes."""
    stated = suite.stated_pairs
    limit = np.array([math.log1p(pairing.target(s)) for s in suite.seconds])
    known = suite.pairs(calibrated)
    scale, freedom = priors(known.var(2, ddof=1) / stated**2, calibrated - 1)
    d = suite.pairs(pairing.LOOKS[-1]) + math.log1p(slowdown)
    result = np.full(d.shape[:2], 9)
    used = np.full(d.shape[:2], pairing.LOOKS[-1])
    for look in pairing.LOOKS:
        degrees = calibrated - 1 + look - 1
        own = (known.var(2, ddof=1) * (calibrated - 1) + d[..., :look].var(2, ddof=1) * (look - 1)) / degrees
        variance, total = moderated(scale, freedom, own / stated**2, degrees)
        error, mean = np.sqrt(variance / look) * stated, d[..., :look].mean(2)
        half = quantiles(pairing.FALSE_ALARM / len(pairing.LOOKS), total) * error
        clear = quantiles(pairing.CLEARED, total) * error
        found = np.where(mean - half > math.log1p(MINIMAL), 1, np.where(mean + half < -math.log1p(MINIMAL), -1, 9))
        found = np.where((found == 9) & (np.abs(mean) + clear < limit), 0, found)
        fresh = (result == 9) & (found != 9)
        result[fresh], used[fresh] = found[fresh], look
    return result, used


@dataclass
class Tally:
    """Counts of one rule: false alarms in ``campaigns`` campaigns, and what was found of each slowdown, by class."""

    name: str
    alarms: int = 0
    campaigns: int = 0
    found: dict[float, list[list[float]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, suite: Suite, hits: dict[float, np.ndarray]) -> None:
        """Take in what the rule called slower, by slowdown."""
        for by, hit in hits.items():
            if by:
                self.found[by].append([hit[:, suite.kind == k].mean() for k in range(len(suite.noise))])
            else:
                self.alarms += int(hit.sum())
                self.campaigns += suite.campaigns

    def tell(self) -> None:
        """False alarms in a campaign of 400 cases with the 95 % limit, and the share found by class."""
        alarms, limit = self.alarms / self.campaigns, count_limit(self.alarms) / self.campaigns
        print(
            f"{self.name}: {alarms:.4f} false alarms in 400 cases (95 % limit {limit:.4f}, {self.campaigns} campaigns)"
        )
        for by, shares in sorted(self.found.items()):
            print(
                f"  {100 * by:3.0f} %: " + ", ".join(f"{100 * share:5.1f}" for share in np.mean(shares, 0)), flush=True
            )


def ours(rng: np.random.Generator, campaigns: int, classes: tuple[Class, ...], stored: int = 5) -> None:
    """Print false alarms and power of the screen alone, of all cases in pairs, and of suspects in pairs.

    False alarms of the screen, which are the most likely, from all campaigns; of pairs from a tenth, power from a
    hundredth of them.
    """
    alone, suspects, everything = map(
        Tally,
        (
            "stored baseline alone, suspects in fresh processes",
            "retest of suspects in pairs",
            "retest of all cases in pairs",
        ),
    )
    cost, unresolved = [], []
    for chunk in range(max(1, campaigns // CHUNK)):
        suite = Suite(rng, CHUNK, classes)
        difference, again, half = screen(suite, stored)
        limit = np.array([math.log1p(pairing.target(s)) for s in suite.seconds])
        certain = half(screening.FALSE_ALARM / screening.TAILS)
        slowdowns = SLOWDOWNS if chunk % 100 == 0 else (0.0,)
        slower = {by: (difference + math.log1p(by) > certain, again + math.log1p(by) - certain) for by in slowdowns}
        alone.add(suite, {by: seems & (low > math.log1p(MINIMAL)) for by, (seems, low) in slower.items()})
        if chunk % 10:
            continue
        clear = half(screening.CLEARED)
        for by in slowdowns:
            result, used = retest(suite, by)
            worth = difference + math.log1p(by) + clear > limit
            suspects.add(suite, {by: (result == 1) & worth})
            everything.add(suite, {by: result == 1})
            if not by:
                cost.append((used * worth).sum() / CHUNK)
                unresolved.append(((result == 9) & worth).sum() / CHUNK)
    for tally in (alone, suspects, everything):
        tally.tell()
    print(f"  suspects: {np.mean(cost):.0f} case-processes a campaign, {np.mean(unresolved):.3f} left unresolved")


def peers(rng: np.random.Generator, campaigns: int, classes: tuple[Class, ...]) -> None:
    """Print the same for rules on the samples of two runs, one of them stored."""
    rules = {
        "pytest-benchmark mean:5%": mean_rule,
        "U test, 0.05": u_rule,
        "bootstrap of one run": lambda a, b: bootstrap_rule(a, b, rng, 200),
    }
    suite = Suite(rng, campaigns, classes)
    levels = suite.runs(2)
    old, new = (
        np.exp(levels[..., k, None] + suite.jitter[..., None] * rng.standard_normal((campaigns, CASES, SAMPLES)))
        for k in range(2)
    )
    for name, rule in rules.items():
        tally = Tally(name)
        tally.add(suite, {by: _all(rule, old, new * (1 + by)) for by in SLOWDOWNS})
        tally.tell()


def _all(rule: Callable[[np.ndarray, np.ndarray], bool], old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The rule on the samples of every case of every campaign."""
    flat = [rule(a, b) for a, b in zip(old.reshape(-1, SAMPLES), new.reshape(-1, SAMPLES), strict=True)]
    return np.array(flat).reshape(old.shape[:2])


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


def verify(rng: np.random.Generator) -> None:
    """The vectorised rules give what the plugin's own functions give."""
    suite = Suite(rng, 1)
    stated = suite.stated_pairs
    known, d = suite.pairs(4)[0], suite.pairs(16)[0] + 0.008
    scale, freedom = priors(known.var(1, ddof=1)[None] / stated**2, 3)
    prior = Prior(float(scale[0]), float(freedom[0]), CASES)
    plainly = fit_prior((float(v), 3) for v in known.var(1, ddof=1) / stated**2)
    assert math.isclose(prior.scale, plainly.scale, rel_tol=1e-6)
    assert math.isclose(prior.degrees, plainly.degrees, rel_tol=1e-6)
    for case in range(0, CASES, 7):
        plain = pairing.decide(float(suite.seconds[case]), list(d[case, :8]), prior, list(known[case]))
        own = (known[case].var(ddof=1) * 3 + d[case, :8].var(ddof=1) * 7) / 10
        variance, total = moderated(scale, freedom, own[None, None] / stated[case] ** 2, 10)
        half = quantiles(pairing.FALSE_ALARM / 3, total)[0, 0] * math.sqrt(variance[0, 0] / 8) * stated[case]
        assert math.isclose(math.log(plain.change.low), d[case, :8].mean() - half, rel_tol=1e-6, abs_tol=1e-9)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=pathlib.Path)
    parser.add_argument("--campaigns", type=int, default=20_000)
    parser.add_argument("--stored", type=int, default=5)
    chosen = parser.parse_args()
    verify(np.random.default_rng(0))
    classes = fitted(chosen.rounds) if chosen.rounds else NOISE
    print("columns: share found of kernels " + ", ".join(c.name for c in classes))
    ours(np.random.default_rng(1), chosen.campaigns, classes, chosen.stored)
    peers(np.random.default_rng(2), PEERS, classes)


if __name__ == "__main__":
    main()
