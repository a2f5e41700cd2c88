"""Simulation of the verdict and of the rules of others on a suite of 400 unchanged kernels, and of planted slowdowns.

    python benchmarks/detectors.py [--rounds RESULTS] [--campaigns 2000]

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
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peer_rules import bootstrap_rule, mean_rule, u_rule  # noqa: E402
from pytest_roofline.statistics import MINIMAL  # noqa: E402
from pytest_roofline.statistics import paired as pairing  # noqa: E402
from pytest_roofline.statistics import screen as screening  # noqa: E402
from pytest_roofline.statistics.distributions import digamma, student_quantile, trigamma, trigamma_inverse  # noqa: E402
from pytest_roofline.statistics.noise import Prior, between_pairs, between_runs  # noqa: E402

CASES, SAMPLES = 400, 40
SLOWDOWNS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.10)


@dataclass(frozen=True)
class Class:
    """Kernels of about ``seconds``, a ``share`` of the suite; standard deviations of ln t between starts, processes of
    a start, pairs of a process, and samples of a run. They differ between cases by a factor of exp(0.4 z)."""

    name: str
    share: float
    seconds: float
    start: float
    process: float
    pair: float
    jitter: float


# H200: between starts from 114 cases stored on two and three starts and 40 of verdict_rounds.py on three starts and
# cards (median 0.35 to 0.6 %), pairs and jitter from those rounds, processes from ten of one start.
NOISE = (
    Class("from 20 us", 0.70, 100e-6, 0.0050, 0.0010, 0.0010, 0.0030),
    Class("5 to 20 us", 0.15, 10e-6, 0.0050, 0.0020, 0.0019, 0.0050),
    Class("below 5 us", 0.15, 2e-6, 0.0065, 0.0040, 0.0025, 0.0050),
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
        spread = np.exp(0.4 * self.rng.standard_normal(shape))
        at = lambda name: np.array([getattr(c, name) for c in self.noise])[self.kind]  # noqa: E731
        self.seconds = at("seconds")
        self.start, self.process, self.pair, self.jitter = (
            at(name) * spread for name in ("start", "process", "pair", "jitter")
        )
        self.stuck = self.rng.random(shape) < SLOW_SHARE

    def heavy(self, *shape: int) -> np.ndarray:
        """Student's t with 5 degrees of freedom, variance 1."""
        return self.rng.standard_t(5, shape) / math.sqrt(5 / 3)

    def runs(self, count: int) -> np.ndarray:
        """ln t of one run of each of ``count`` campaigns, about the case's level."""
        shape = (self.campaigns, CASES, count)
        level = self.heavy(*shape) * self.start[..., None] + self.heavy(*shape) * self.process[..., None]
        slow = self.stuck[..., None] & (self.rng.random(shape) < SLOW_CHANCE)
        return level + SLOW * slow + CAMPAIGN * self.heavy(self.campaigns, 1, count)

    def pairs(self, count: int) -> np.ndarray:
        """ln(new / old) of each process; half of the cases with a slow state have it in one of the two alone."""
        shape = (self.campaigns, CASES, count)
        alone = self.stuck[..., None] & (self.rng.random((self.campaigns, CASES, 1)) < 0.5)
        slow = alone & (self.rng.random(shape) < SLOW_CHANCE)
        return self.heavy(*shape) * self.pair[..., None] + SLOW * slow * self.rng.choice([-1, 1], shape)


def priors(variances: np.ndarray, degrees: int) -> tuple[np.ndarray, np.ndarray]:
    """Scale and degrees of freedom of each campaign's prior, as ``noise.fit_prior`` finds them."""
    logs = np.log(np.maximum(variances, 1e-4)) - digamma(degrees / 2) + math.log(degrees / 2)
    mean, excess = logs.mean(1), logs.var(1, ddof=1) - trigamma(degrees / 2)
    freedom = np.array([2 * trigamma_inverse(x) if x > 0 else math.inf for x in excess])
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


def screen(suite: Suite, stored: int) -> tuple[np.ndarray, Callable[[float], np.ndarray]]:
    """Difference of one more run from so many stored ones, and half of its interval by the chance beside it."""
    x = suite.runs(stored + 1)
    old, new = x[..., :stored], x[..., stored]
    old = old - np.median(old - old.mean(2, keepdims=True), axis=1, keepdims=True)
    moved = new - old.mean(2)
    difference = moved - np.median(moved, axis=1, keepdims=True)
    stated = np.array([between_runs(s) for s in suite.seconds])
    own = old.var(2, ddof=1) / stated**2
    scale, freedom = priors(own, stored - 1)
    variance, degrees = moderated(scale, freedom, own, stored - 1)
    error = np.sqrt(variance * (1 + 1 / stored)) * stated
    return difference, lambda tail: quantiles(tail, degrees) * error


def retest(suite: Suite, slowdown: float, calibrated: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Verdict of each case (1 slower, -1 faster, 0 same, 9 undecided) and after how many processes."""
    stated = np.array([between_pairs(s) for s in suite.seconds])
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


def ours(rng: np.random.Generator, campaigns: int, noise: tuple[Class, ...], stored: int = 5) -> None:
    """Print false alarms and power of the screen alone, of all cases in pairs, and of suspects in pairs."""
    suite = Suite(rng, campaigns, noise)
    difference, half = screen(suite, stored)
    limit = np.array([math.log1p(pairing.target(s)) for s in suite.seconds])
    certain, clear = half(screening.FALSE_ALARM / screening.TAILS), half(screening.CLEARED)
    alarms = (difference - certain > math.log1p(MINIMAL)).sum()
    shown = lambda by: difference + math.log1p(by) - certain > math.log1p(MINIMAL)  # noqa: E731
    line("screen, stored baseline alone", alarms, campaigns, lambda by: _by_class(suite, shown(by)))
    power: dict[float, np.ndarray] = {}
    cost = {}
    for by in SLOWDOWNS:
        result, used = retest(suite, by)
        suspects = difference + math.log1p(by) + clear > limit
        power[by] = (result == 1) & suspects
        cost[by] = (used * suspects).sum() / campaigns
        if not by:
            both, everything = power[by].sum(), (result == 1).sum()
            undecided = ((result == 9) & suspects).sum() / campaigns
    line("retest of suspects in pairs", both, campaigns, lambda by: _by_class(suite, power[by]))
    line("retest of all cases in pairs", everything, campaigns, lambda by: _by_class(suite, retest(suite, by)[0] == 1))
    print(f"  suspects: {cost[0.0]:.0f} case-processes a campaign, {undecided:.3f} left unresolved")


def peers(rng: np.random.Generator, campaigns: int, noise: tuple[Class, ...]) -> None:
    """Print the same for rules on the samples of two runs, one of them stored."""
    rules = {
        "pytest-benchmark mean:5%": mean_rule,
        "U test, 0.05": u_rule,
        "bootstrap of one run": lambda a, b: bootstrap_rule(a, b, rng, 200),
    }
    suite = Suite(rng, campaigns, noise)
    levels = suite.runs(2)
    old, new = (
        np.exp(levels[..., k, None] + suite.jitter[..., None] * rng.standard_normal((campaigns, CASES, SAMPLES)))
        for k in range(2)
    )
    for name, rule in rules.items():
        hits = {by: _all(rule, old, new * (1 + by)) for by in SLOWDOWNS}
        line(name, hits[0.0].sum(), campaigns, lambda by, hits=hits: _by_class(suite, hits[by]))


def _all(rule: Callable[[np.ndarray, np.ndarray], bool], old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The rule on the samples of every case of every campaign."""
    flat = [rule(a, b) for a, b in zip(old.reshape(-1, SAMPLES), new.reshape(-1, SAMPLES), strict=True)]
    return np.array(flat).reshape(old.shape[:2])


def line(name: str, alarms: int, campaigns: int, power: Callable[[float], list[float]]) -> None:
    """One rule: false alarms in a campaign of 400 cases with the 95 % limit, and the share found by class."""
    upper = _poisson_limit(int(alarms)) / campaigns
    print(f"{name}: {alarms / campaigns:.4f} false alarms in 400 cases (95 % limit {upper:.4f}, {campaigns} campaigns)")
    for by in SLOWDOWNS[1:]:
        print(f"  {100 * by:3.0f} %: " + ", ".join(f"{100 * share:5.1f}" for share in power(by)), flush=True)


def _by_class(suite: Suite, hit: np.ndarray) -> list[float]:
    return [float(hit[:, suite.kind == k].mean()) for k in range(len(suite.noise))]


def _poisson_limit(count: int) -> float:
    """Upper 95 % limit of the mean of a Poisson variable that came out as ``count``, by bisection."""
    low, high = 0.0, 10.0 + 5 * count
    for _ in range(60):
        middle = (low + high) / 2
        terms = (math.exp(k * math.log(middle) - middle - math.lgamma(k + 1)) for k in range(count + 1))
        low, high = (middle, high) if sum(terms) > 0.05 else (low, middle)
    return high


def fitted(folder: pathlib.Path) -> tuple[Class, ...]:
    """The classes with the noise that recorded rounds show; what one start cannot show stays as it is."""
    from benchmarks.verdict_power import CLASSES, load

    starts = load(folder)
    found = []
    for (_, name), stated in zip(CLASSES, NOISE, strict=True):
        values: dict[str, list[float]] = {"start": [], "process": [], "pair": [], "jitter": [], "seconds": []}
        means: dict[str, list[float]] = {}
        for rounds in starts.values():
            for case, one in rounds[0].cases.items():
                if next(n for s, n in CLASSES if one["seconds"] >= s) == name and len(rounds) > 2:
                    logs = [s.log_mean for r in rounds if (s := r.summary(case, None)) is not None]
                    pairs = [d for r in rounds if (d := r.number(case, 0.0)) is not None]
                    values["process"].append(np.std(logs, ddof=1) if len(logs) > 2 else np.nan)
                    values["pair"].append(np.std(pairs, ddof=1) if len(pairs) > 2 else np.nan)
                    values["jitter"].append(np.std(np.log(one["samples"][0])))
                    values["seconds"].append(one["seconds"])
                    means.setdefault(case, []).append(float(np.mean(logs)))
        values["start"] = [np.std(m, ddof=1) for m in means.values() if len(m) > 1]
        typical = {key: float(np.nanmedian(v)) for key, v in values.items() if len(v) > 4}
        found.append(replace(stated, **typical))
        print(f"fitted {name}: " + ", ".join(f"{k} {100 * v:.3f} %" for k, v in typical.items() if k != "seconds"))
    return tuple(found)


def verify(rng: np.random.Generator) -> None:
    """The vectorised rules give what the plugin's own functions give."""
    suite = Suite(rng, 1)
    stated = np.array([between_pairs(s) for s in suite.seconds])
    known, d = suite.pairs(4)[0], suite.pairs(16)[0] + 0.008
    scale, freedom = priors(known.var(1, ddof=1)[None] / stated**2, 3)
    prior = Prior(float(scale[0]), float(freedom[0]), CASES)
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
    parser.add_argument("--campaigns", type=int, default=2000)
    parser.add_argument("--stored", type=int, default=5)
    chosen = parser.parse_args()
    verify(np.random.default_rng(0))
    noise = fitted(chosen.rounds) if chosen.rounds else NOISE
    print("columns: share found of kernels " + ", ".join(c.name for c in noise))
    chunk = 250
    ours(np.random.default_rng(1), chosen.campaigns, noise, chosen.stored)
    peers(np.random.default_rng(2), min(chosen.campaigns, chunk // 50), noise)


if __name__ == "__main__":
    main()
