"""Chances of finding a slowdown, against what the rule does on drawn numbers."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.statistics.noise import Prior, Spread
from pytest_roofline.statistics.power import SLOWDOWNS, of_pairs, of_screen
from pytest_roofline.statistics.screen import change
from pytest_roofline.statistics.summaries import MINIMAL, alarm

spreads = st.builds(Spread, st.floats(1e-7, 1e-3), st.floats(3, 200))


@given(spreads, st.integers(1, 20), st.integers(1, 400))
def test_larger_slowdowns_are_found_more_often(own, campaigns, suspects):
    """And every chance is one."""
    chances = of_screen(own, 1 + 1 / campaigns, 0.0, suspects).chances
    assert list(chances) == sorted(chances)
    assert all(0 <= chance <= 1 for chance in chances)


@given(spreads, st.integers(1, 10), st.integers(1, 200))
def test_more_campaigns_help_and_more_suspects_do_not(own, campaigns, suspects):
    """What shares a false alarm must be surer."""
    here = of_screen(own, 1 + 1 / campaigns, 0.0, suspects)
    assert of_screen(own, 1 + 1 / (campaigns + 1), 0.0, suspects).detectable <= here.detectable
    assert of_screen(own, 1 + 1 / campaigns, 0.0, suspects + 1).detectable >= here.detectable


def test_the_chance_is_what_the_rule_finds():
    """20,000 runs of a case with known noise, slowed by 2 %: as many are called slower as was promised."""
    rng, own, campaigns = random.Random(1), Spread(0.003**2, math.inf), 5
    error = math.sqrt(own.variance * (1 + 1 / campaigns))
    hits = sum(
        change(math.log(1.02) + rng.gauss(0, error), own, 1 + 1 / campaigns, 0.0, alarm(10)).low > 1 + MINIMAL
        for _ in range(20_000)
    )
    promised = of_screen(own, 1 + 1 / campaigns, 0.0, 10).chances[SLOWDOWNS.index(0.02)]
    assert 0.2 < promised < 0.95
    assert hits / 20_000 == pytest.approx(promised, abs=0.01)


def test_pairs_find_one_percent_of_a_long_kernel():
    """With the stated noise, and sooner where a calibration was quiet."""
    stated = of_pairs(1e-4, Prior(1.0, 8.0), [], 400)
    quiet = of_pairs(1e-4, Prior(0.1, 30.0, 100), [0.0002, -0.0002, 0.0001, 0.0], 400)
    assert stated.chances[0] > 0.99
    assert quiet.detectable < stated.detectable < 0.01
