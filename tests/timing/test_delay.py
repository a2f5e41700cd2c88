"""A planted slowdown has the length that was asked for."""

import statistics

import pytest

from pytest_roofline.timing.delay import Delay, DelayTooShort


def test_cycles_are_what_is_left_after_the_kernels_own_cost():
    """0.5 us are there anyway; the rest is spun at the clock's rate."""
    assert Delay(cost=0.5e-6, hertz=2e9).cycles(2.5e-6) == 4000
    assert Delay(cost=0.5e-6, hertz=2e9).cycles(0.5e-6) == 0


def test_less_than_an_empty_kernel_cannot_be_planted():
    """An error with both figures, never a longer delay than asked for."""
    with pytest.raises(DelayTooShort, match=r"0\.40 us per bracket .* already takes 0\.50 us"):
        Delay(cost=0.5e-6, hertz=2e9).cycles(0.4e-6)


def test_a_bracket_becomes_longer_by_the_fraction_asked_for(engine):
    """On the GPU: 5 % of a bracket of empty kernels, to within a fifth of it."""
    from pytest_roofline.timing.plan import Plan
    from pytest_roofline.timing.session import Job

    job, todo = Job([engine.tools.nothing]), Plan(512, 20, 20)
    (slowed,) = engine.slowed(job, todo, [0.05])
    from pytest_roofline.contract import Protocol

    plain, slow = (engine.taker(one, todo, Protocol.GRAPH_HOT) for one in (job, slowed))
    ratios = [slow() / plain() for _ in range(20)]
    assert statistics.median(ratios) == pytest.approx(1.05, abs=0.01)
