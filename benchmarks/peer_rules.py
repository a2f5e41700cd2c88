"""The rules that others use to call one run of a benchmark slower than another, on the samples of both. Pure.

pytest-benchmark's ``--benchmark-compare-fail=mean:5%`` compares one statistic of two runs, Google Benchmark's
``compare.py`` a U test at 0.05, and a bootstrap of two runs' samples is what papers often do. All of them take the
samples of one process for independent draws of the kernel's time, which they are not.
"""

from __future__ import annotations

import math

import numpy as np


def mean_rule(old: np.ndarray, new: np.ndarray, limit: float = 0.05) -> bool:
    """Whether the mean rose by more than ``limit``."""
    return bool(new.mean() > (1 + limit) * old.mean())


def u_rule(old: np.ndarray, new: np.ndarray, alpha: float = 0.05) -> bool:
    """Whether a two-sided Mann-Whitney U test (normal approximation, ties corrected) rejects, and new is larger."""
    both = np.concatenate([old, new])
    values, places, counts = np.unique(both, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    n, m = len(old), len(new)
    u = ranks[n:].sum() - m * (m + 1) / 2
    ties = ((counts**3 - counts).sum()) / ((n + m) * (n + m - 1))
    sd = math.sqrt(n * m / 12 * (n + m + 1 - ties))
    if sd == 0 or len(values) == 1:
        return False
    z = (u - n * m / 2) / sd
    return bool(z > 0 and math.erfc(z / math.sqrt(2)) < alpha)


def bootstrap_rule(old: np.ndarray, new: np.ndarray, rng: np.random.Generator, draws: int = 400) -> bool:
    """Whether the 95 % interval of the ratio of medians, from resampled samples of both runs, lies above 1."""
    a = np.median(rng.choice(old, (draws, len(old))), axis=1)
    b = np.median(rng.choice(new, (draws, len(new))), axis=1)
    return bool(np.quantile(b / a, 0.025) > 1)
