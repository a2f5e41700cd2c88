"""Simulation of the verdict and of the rules of others on a suite of 400 unchanged kernels, and of planted slowdowns.

    python benchmarks/detectors.py [--rounds RESULTS] [--campaigns 20000] [--stored 8] [--changed 400]

False alarms as rare as one in 40,000 comparisons cannot be measured, they have to be simulated. The noise is that of an
H200 (``simulated_suite.NOISE``), or fitted to recorded rounds (``verdict_rounds.py``). Many runs are held against each
stored suite; limits take the suites, not the runs, as what was drawn independently.
"""

from __future__ import annotations

import argparse
import math
import pathlib
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.fitted_noise import Class, fitted  # noqa: E402
from benchmarks.peer_rules import bootstrap_rule, mean_rule, u_rule  # noqa: E402
from benchmarks.shares import count_limit  # noqa: E402
from benchmarks.simulated_rules import Stored, moderated, priors, quantiles, retest, runs  # noqa: E402
from benchmarks.simulated_suite import CASES, FREEDOM, NOISE, Suite  # noqa: E402
from pytest_roofline.statistics import alarm  # noqa: E402
from pytest_roofline.statistics import paired as pairing  # noqa: E402
from pytest_roofline.statistics.noise import Prior, fit_prior  # noqa: E402

SAMPLES = 40
RUNS = 100  # held against the same stored campaigns
CHUNK = 100  # suites of pairs that are simulated at once
PEERS = 5  # campaigns of the others' rules, which raise alarms in each
SLOWDOWNS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.10)


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
                self.campaigns += len(hit)

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


def alone(
    rng: np.random.Generator,
    campaigns: int,
    classes: tuple[Class, ...],
    stored: int,
    common: float = 1.0,
    freedom: float = FREEDOM,
    changed: int = CASES,
) -> None:
    """Print false alarms and power of the screen alone, with fresh processes for what seems slower. So many kernels
    have ``changed`` and may raise an alarm."""
    tally, alarms = Tally("stored baseline alone, suspects in fresh processes"), []
    for _ in range(max(2, campaigns // RUNS)):
        suite = Suite(rng, 1, classes, common, freedom)
        known = Stored(suite, stored, alarm(changed))
        mine = rng.permutation(CASES) < changed if changed < CASES else np.ones(CASES, dtype=bool)
        firsts, medians = runs(suite, RUNS)
        before = tally.alarms
        for k in range(RUNS):
            found = known.judge(firsts[:, k], medians[:, k], SLOWDOWNS if k == 0 else (0.0,))
            tally.add(suite, {by: (hit if by else hit & mine)[None] for by, hit in found.items()})
        alarms.append((tally.alarms - before) / RUNS)
    tally.tell()
    error = float(np.std(alarms, ddof=1)) / math.sqrt(len(alarms))
    print(
        f"  {len(alarms)} sets of {stored} stored campaigns: 95 % limit {np.mean(alarms) + 1.645 * error:.4f}",
        flush=True,
    )


def pairs(rng: np.random.Generator, campaigns: int, classes: tuple[Class, ...], freedom: float = FREEDOM) -> None:
    """Print the same for a retest in pairs of all cases."""
    tally, used, unresolved = Tally("retest of all cases in pairs"), [], []
    for chunk in range(max(1, campaigns // CHUNK)):
        suite = Suite(rng, CHUNK, classes, freedom=freedom)
        for by in SLOWDOWNS if chunk % 10 == 0 else (0.0,):
            result, processes = retest(suite, by)
            tally.add(suite, {by: result == 1})
            if not by:
                used.append(processes.sum() / CHUNK)
                unresolved.append((result == 9).sum() / CHUNK)
    tally.tell()
    print(f"  {np.mean(used):.0f} case-processes a campaign, {np.mean(unresolved):.3f} cases left unresolved")


def peers(rng: np.random.Generator, campaigns: int, classes: tuple[Class, ...]) -> None:
    """Print the same for rules on the samples of two runs, one of them stored."""
    rules = {
        "pytest-benchmark mean:5%": mean_rule,
        "U test, 0.05": u_rule,
        "bootstrap of one run": lambda a, b: bootstrap_rule(a, b, rng, 200),
    }
    suite = Suite(rng, campaigns, classes)
    levels = suite.levels(2) + suite.processes(2)
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
        limited, eight = suite.noise[suite.kind[case]].limited, list(d[case, :8])
        seconds, calibrated = float(suite.seconds[case]), list(known[case])
        plain = pairing.decide(seconds, eight, prior, calibrated, power_limited=limited)
        own = (known[case].var(ddof=1) * 3 + d[case, :8].var(ddof=1) * 7) / 10
        variance, total = moderated(scale, freedom, own[None, None] / stated[case] ** 2, 10)
        half = quantiles(pairing.FALSE_ALARM / 3, total)[0, 0] * math.sqrt(variance[0, 0] / 8) * stated[case]
        assert math.isclose(math.log(plain.change.low), d[case, :8].mean() - half, rel_tol=1e-6, abs_tol=1e-9)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=pathlib.Path)
    parser.add_argument("--campaigns", type=int, default=20_000)
    parser.add_argument("--stored", type=int, default=8)
    parser.add_argument("--common", type=float, default=1.0, help="times what kinds of cards have in common")
    parser.add_argument("--freedom", type=float, default=FREEDOM, help="degrees of freedom of all tails")
    parser.add_argument("--changed", type=int, default=CASES, help="kernels that may raise an alarm")
    chosen = parser.parse_args()
    verify(np.random.default_rng(0))
    classes = fitted(chosen.rounds) if chosen.rounds else NOISE
    print("columns: share found of kernels " + ", ".join(c.name for c in classes))
    rng = np.random.default_rng(1)
    alone(rng, chosen.campaigns, classes, chosen.stored, chosen.common, chosen.freedom, chosen.changed)
    pairs(np.random.default_rng(3), chosen.campaigns // 10, classes, chosen.freedom)
    peers(np.random.default_rng(2), PEERS, classes)


if __name__ == "__main__":
    main()
