"""Predictors of a kernel's level on a card, as they are compared with each other."""

import numpy as np
import pytest

from benchmarks.predictors import CAPPED, PREDICTORS, beside, left, mean, neighbours

KERNELS, CARDS = 60, 14
MACHINES = np.repeat([f"m{k}" for k in range(CARDS // 2)], 2)


def levels(seed=1, noise=0.0005):
    """Kernels of two families, each of which every card runs at a speed of its own: 1 % apart."""
    rng = np.random.default_rng(seed)
    speeds = rng.normal(0, 0.01, (2, CARDS))
    return speeds[np.arange(KERNELS) % 2] + rng.normal(0, noise, (KERNELS, CARDS)) - 9.0


def test_related_kernels_predict_what_a_mean_cannot():
    """What is left is the noise of a kernel; of the other card of its start both families' speeds are."""
    found = levels()
    typical = {name: float(np.nanstd(left(found, MACHINES, one))) for name, one in PREDICTORS.items()}
    by_mean, _, by_neighbours = typical.values()
    assert by_neighbours < 0.3 * by_mean
    assert np.nanstd(beside(found, MACHINES)) > 3 * by_neighbours


@pytest.mark.parametrize("slower", [0.02, 1.0])
def test_a_slower_kernel_is_not_in_its_own_prediction(slower):
    """Nor does it carry its neighbours further than so many of their standard deviations, shared by fifteen."""
    found = levels()
    others, card = found[:, 2:], found[:, 0].copy()
    before = neighbours(others, MACHINES[2:], card)
    card[0] += slower
    after = neighbours(others, MACHINES[2:], card)
    assert after[0] == before[0]
    spread = np.std(others, axis=1)
    assert np.max(abs(after - before) / spread) < CAPPED / 3


def test_a_mean_knows_no_card():
    """However the card runs."""
    found = levels()
    assert np.allclose(mean(found, MACHINES, found[:, 0] + 1.0), found.mean(1))
