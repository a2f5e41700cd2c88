"""Suites of 400 unchanged kernels with the noise of an H200: what runs of them on other starts of the machine give.

Levels of starts, processes and pairs all have heavy tails (Student's t, 3.5 degrees of freedom). Part of what starts
differ by is common to many kernels, as kinds of cards have it: few factors, each kernel with a loading of its own. A
share of the cases has a slow state that some processes find.
"""

from __future__ import annotations

import math
import pathlib
import sys
from dataclasses import dataclass

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.fitted_noise import Class  # noqa: E402
from pytest_roofline.statistics.noise import between_pairs, between_runs  # noqa: E402

CASES = 400
# As fitted to the rounds of eight starts of H200 machines, two cards each (``benchmarks/rounds/``); what is common, to
# what the likeness of campaigns leaves there of the levels of cards (``between_starts.py``).
NOISE = (
    Class("from 20 us", 0.60, 132e-6, 0.0023, 0.0026, 0.0009, 0.0030, 0.77, 0.64, common=0.7),
    Class("below 5 us", 0.17, 2.0e-6, 0.0038, 0.0028, 0.0016, 0.0047, 0.46, 0.19, common=0.55),
    Class("power-limited", 0.13, 798e-6, 0.0103, 0.0167, 0.0010, 0.0095, 0.72, 0.63, limited=True, common=0.0),
    Class("5 to 20 us", 0.10, 9.2e-6, 0.0022, 0.0028, 0.0016, 0.0043, 0.49, 0.21, common=0.55),
)
FREEDOM = 3.5  # degrees of freedom of all tails, as ``simulated_tails.py`` fits them to those rounds
FACTORS = 2
CAMPAIGN = 0.001  # standard deviation of what a whole campaign has in common
SLOW_SHARE, SLOW_CHANCE, SLOW = 0.02, 0.1, 0.01  # cases with a slow state, how often a process has it, how slow


@dataclass
class Suite:
    """So many suites, drawn once: (suites, cases) arrays of standard deviations."""

    rng: np.random.Generator
    suites: int
    noise: tuple[Class, ...] = NOISE
    scaled: float = 1.0  # times the ``common`` share of each class
    freedom: float = FREEDOM

    def __post_init__(self) -> None:
        counts = [round(c.share * CASES) for c in self.noise]
        counts[0] += CASES - sum(counts)
        self.kind = np.repeat(np.arange(len(counts)), counts)
        shape = (self.suites, CASES)
        at = lambda name: np.array([getattr(c, name) for c in self.noise])[self.kind]  # noqa: E731
        spread, apart = (np.exp(at(name) * self.rng.standard_normal(shape)) for name in ("spread", "apart"))
        self.seconds = at("seconds")
        self.common = self.scaled * at("common")[:, None]
        self.start, self.process, self.jitter = (at(name) * spread for name in ("start", "process", "jitter"))
        self.pair = at("pair") * apart
        limited = at("limited")
        both = list(zip(self.seconds, limited, strict=True))
        self.stated_runs = np.array([between_runs(s, power_limited=bool(flag)) for s, flag in both])
        self.stated_pairs = np.array([between_pairs(s, power_limited=bool(flag)) for s, flag in both])
        self.stuck = self.rng.random(shape) < SLOW_SHARE
        self.loadings = self.heavy(*shape, FACTORS) / math.sqrt(FACTORS)

    def heavy(self, *shape: int) -> np.ndarray:
        """Student's t with ``freedom`` degrees of freedom, variance 1."""
        return self.rng.standard_t(self.freedom, shape) / math.sqrt(self.freedom / (self.freedom - 2))

    def levels(self, count: int) -> np.ndarray:
        """ln t of ``count`` starts about the case's own, (suites, cases, count): what all processes have in common."""
        own = self.heavy(self.suites, CASES, count)
        kinds = self.loadings @ self.heavy(self.suites, FACTORS, count)
        both = np.sqrt(self.common) * kinds + np.sqrt(1 - self.common) * own
        return both * self.start[..., None] + CAMPAIGN * self.heavy(self.suites, 1, count)

    def processes(self, *count: int) -> np.ndarray:
        """What each process has of its own, (suites, cases, *count)."""
        shape = (self.suites, CASES, *count)
        widened = (slice(None), slice(None), *(None for _ in count))
        slow = self.stuck[widened] & (self.rng.random(shape) < SLOW_CHANCE)
        return self.heavy(*shape) * self.process[widened] + SLOW * slow

    def pairs(self, count: int) -> np.ndarray:
        """ln(new / old) of each process; half of the cases with a slow state have it in one of the two alone."""
        shape = (self.suites, CASES, count)
        alone = self.stuck[..., None] & (self.rng.random((self.suites, CASES, 1)) < 0.5)
        slow = alone & (self.rng.random(shape) < SLOW_CHANCE)
        return self.heavy(*shape) * self.pair[..., None] + SLOW * slow * self.rng.choice([-1, 1], shape)
