"""Blocks of old and new kernels: what cancels, and in which order they run."""

import math
import random

import pytest

pytest.importorskip("torch")

from pytest_roofline.timing.pairing import Blocks
from pytest_roofline.timing.plan import FEWEST_BLOCKS, MOST_BLOCKS, blocks


class Machine:
    """Kernels on a machine that becomes slower by a factor with every bracket."""

    def __init__(self, drift=1.0):
        self.factor, self.drift, self.order = 1.0, drift, []

    def kernel(self, name, seconds):
        """A taker of one bracket."""

        def take():
            self.order.append(name)
            self.factor *= self.drift
            return seconds * self.factor

        return take


@pytest.mark.parametrize("drift", [1.0, 1.01, 0.97])
@pytest.mark.parametrize("seed", range(4))
def test_a_drift_cancels_within_a_block(drift, seed):
    """Whatever the order, ln(new / old) is that of the kernels alone."""
    machine = Machine(drift)
    taker = Blocks([machine.kernel("old", 1e-4), machine.kernel("new", 1.02e-4)], random.Random(seed))
    assert taker.block() == [pytest.approx(math.log(1.02))]


def test_both_orders_occur():
    """old new new old and its mirror, at random."""
    seen = set()
    for seed in range(20):
        machine = Machine()
        Blocks([machine.kernel("a", 1.0), machine.kernel("b", 1.0)], random.Random(seed)).block()
        seen.add("".join(machine.order))
    assert seen == {"abba", "baab"}


def test_several_kernels_are_compared_with_the_first():
    """Each has its own difference, and the readings of each are kept."""
    machine = Machine(1.001)
    takers = [machine.kernel(str(k), 1e-4 * (1 + 0.01 * k)) for k in range(4)]
    taker = Blocks(takers, random.Random(0))
    assert taker.block() == [pytest.approx(math.log1p(0.01 * k)) for k in (1, 2, 3)]
    assert [len(readings) for readings in taker.readings] == [2, 2, 2, 2]


@pytest.mark.parametrize("effort", ["quick", "default", "full"])
def test_blocks_fit_the_budget(effort):
    """Many for short brackets, few for long ones, never none."""
    assert blocks(2e-4, effort) == MOST_BLOCKS[effort]
    assert blocks(1.0, effort) == FEWEST_BLOCKS
    assert blocks(1e-3, effort) <= blocks(1e-4, effort)
