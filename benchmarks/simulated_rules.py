"""The plugin's rules on simulated suites: the screen with its fresh processes, and the retest in pairs.

The screen's model of the stored campaigns is the plugin's own; what is drawn thousands of times is vectorised.
"""

from __future__ import annotations

import math
import pathlib
import statistics
import sys
from collections.abc import Sequence

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.simulated_suite import CASES, Suite  # noqa: E402
from pytest_roofline.retest.choice import CONTROLS, SEEMS  # noqa: E402
from pytest_roofline.retest.session import FRESH  # noqa: E402
from pytest_roofline.statistics import MINIMAL, likeness, noise  # noqa: E402
from pytest_roofline.statistics import paired as pairing  # noqa: E402
from pytest_roofline.statistics import screen as screening  # noqa: E402
from pytest_roofline.statistics.distributions import (  # noqa: E402
    digamma,
    student_quantile,
    trigamma,
    trigamma_inverse,
)

PROCESSES = 3  # whose median a stored campaign is


class Stored:
    """What ``campaigns`` stored ones say of a single suite."""

    def __init__(self, suite: Suite, campaigns: int, chance: float = screening.FALSE_ALARM) -> None:
        self.rng = suite.rng
        values = suite.levels(campaigns)[0] + np.median(suite.processes(campaigns, PROCESSES)[0], axis=2)
        self.values = values - np.median(values - values.mean(1, keepdims=True), axis=0)
        self.names = [f"campaign{k}" for k in range(campaigns)]
        cases = [f"case{i}" for i in range(CASES)]
        plain = {
            case: dict(zip(self.names, map(float, row), strict=True))
            for case, row in zip(cases, self.values, strict=True)
        }
        self.limited = np.array([one.limited for one in suite.noise])[suite.kind]
        stated = dict(zip(cases, map(float, suite.stated_runs), strict=True))
        free = {case: runs for (case, runs), held in zip(plain.items(), self.limited, strict=True) if not held}
        self.model, self.campaigns = likeness.fit(free, stated), campaigns
        own = {case: statistics.variance(runs.values()) for case, runs in plain.items()}
        prior = noise.fit_prior((own[case] / stated[case] ** 2, campaigns - 1) for case in cases)
        held = {case: noise.blend(prior, stated[case], own[case], campaigns - 1) for case in cases if case not in free}
        spreads = [held.get(case) or self.model.spreads[case] for case in cases]
        self.noise = np.array([math.sqrt(spread.variance) for spread in spreads])
        quantiles = [
            np.array([student_quantile(tail, spread.degrees) for spread in spreads])
            for tail in (screening.tail_of(chance), screening.CLEARED)
        ]
        self.certain, self.likely = quantiles[0], np.minimum(quantiles[0], SEEMS * quantiles[1])

    def judge(self, first: np.ndarray, median: np.ndarray, slowdowns: Sequence[float]) -> dict[float, np.ndarray]:
        """Which cases of a run are called slower, by slowdown: what ``first`` shows and the ``median`` of it and of
        fresh processes confirms. Both are (cases,) arrays of ln t; of the latter only a panel is measured."""
        seen, error, strange = self._against(first, np.arange(CASES))
        if strange:
            return {by: np.zeros(len(first), dtype=bool) for by in slowdowns}
        again, closer, _ = self._against(median, self.rng.choice(CASES, CONTROLS, replace=False))
        limit = math.log1p(MINIMAL)
        return {
            by: (seen + math.log1p(by) > np.maximum(limit, self.likely * error))
            & (again + math.log1p(by) - self.certain * closer > limit)
            for by in slowdowns
        }

    def _against(self, run: np.ndarray, panel: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        """Difference of each case and its standard error, by what the cases of a panel say of the run, and whether that
        is like none of the stored ones."""
        telling = panel[~self.limited[panel]]
        differences = run[telling, None] - self.values[telling]
        differences = (differences - np.median(differences, axis=0)) / self.noise[telling, None]
        squares = np.minimum(differences**2, likeness.CAPPED).mean(0) / 2
        to = {name: max(likeness.NEAREST, float(far)) for name, far in zip(self.names, squares, strict=True)}
        mixed = self.model.mixed(self.names, to)
        expected = np.where(self.limited, self.values.mean(1), self.values @ np.array(mixed.weights))
        left, times = run - expected, np.where(self.limited, 1 + 1 / self.campaigns, mixed.variance)
        shift, spread = np.median(left[panel]), np.median(abs(left[panel] - np.median(left[panel])))
        beside = 1.2533 * 1.4826 * spread / math.sqrt(len(panel))  # standard error of a median
        error = np.hypot(self.noise * np.sqrt(times), beside)
        return left - shift, error, self.model.strangeness(to) > likeness.STRANGE


def runs(suite: Suite, count: int) -> tuple[np.ndarray, np.ndarray]:
    """``count`` more runs, each on a start of its own: their first processes, and the medians with the fresh ones."""
    levels, own = suite.levels(count)[0], suite.processes(count, 1 + FRESH)[0]
    return levels + own[..., 0], levels + np.median(own, axis=2)


def priors(variances: np.ndarray, degrees: int) -> tuple[np.ndarray, np.ndarray]:
    """Scale and degrees of freedom of each suite's prior, as ``noise.fit_prior`` finds them."""
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
    return np.exp(mean + offset), np.minimum(freedom, noise.MOST_DEGREES)


def moderated(scale: np.ndarray, freedom: np.ndarray, own: np.ndarray, degrees: int) -> tuple[np.ndarray, np.ndarray]:
    """Variances in units of the stated one and their degrees of freedom."""
    mixed = (freedom[:, None] * scale[:, None] + degrees * own) / (freedom[:, None] + degrees)
    return np.maximum(mixed, own), freedom + degrees


def quantiles(tail: float, freedom: np.ndarray) -> np.ndarray:
    """Student's quantile of every suite."""
    return np.array([student_quantile(tail, d) for d in freedom])[:, None]


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
