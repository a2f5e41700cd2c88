"""Which campaigns a run is like: distances, mixtures, and the noise that is left."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.statistics.likeness import (
    CAPPED,
    FEWEST,
    LEAST,
    NEAREST,
    STRANGE,
    Likeness,
    controls,
    distance,
    fit,
    mixture,
)

CASES = [f"case{i}" for i in range(60)]
UNIT = dict.fromkeys(CASES, 1.0)


def column(seed, noise=1.0, level=0.0):
    """A run of all cases."""
    rng = random.Random(seed)
    return {case: level + rng.gauss(0, noise) for case in CASES}


def test_the_distance_of_two_runs_is_their_variance():
    """Half of the mean squared difference; what all cases have in common does not count."""
    assert distance(column(1), column(2), UNIT) == pytest.approx(1.0, rel=0.35)
    assert distance(column(1), column(2, level=7.0), UNIT) == pytest.approx(distance(column(1), column(2), UNIT))
    assert distance(column(1), column(1), UNIT) == NEAREST


def test_a_changed_case_hardly_makes_a_distance():
    """However much it has changed."""
    changed = column(2) | {"case0": 1e6}
    more = distance(column(1), changed, UNIT) - distance(column(1), column(2), UNIT)
    assert more <= CAPPED / 2 / len(CASES) + 0.02


def test_few_common_cases_make_no_distance():
    """Which campaigns a run is like is then not known."""
    few = dict.fromkeys(CASES[: FEWEST - 1], 0.0)
    assert distance(few, column(1), UNIT) is None
    assert distance({}, column(1), UNIT) is None


@pytest.mark.parametrize("count", range(1, 9))
def test_equally_distant_campaigns_are_averaged(count):
    """Then the variance is the one of a difference from a mean."""
    found = mixture([[0.0 if a == b else 1.0 for b in range(count)] for a in range(count)], [1.0] * count)
    assert found.weights == pytest.approx((1 / count,) * count)
    assert found.variance == pytest.approx(1 + 1 / count)


def test_a_close_campaign_counts_more():
    """And the run is then known better."""
    between = [[0.0, 2.0, 2.0], [2.0, 0.0, 2.0], [2.0, 2.0, 0.0]]
    near, far = mixture(between, [1.0, 2.0, 2.0]), mixture(between, [2.0, 2.0, 2.0])
    assert near.weights[0] > 1 / 3 > near.weights[1] > 0
    assert near.variance < far.variance


@st.composite
def places(draw):
    """Distances of points in space, which always are semivariances, of which the last one is the run."""
    count = draw(st.integers(1, 7))
    points = [[draw(st.floats(-3, 3)) for _ in range(3)] for _ in range(count + 1)]
    away = [[0.5 + 0.5 * math.dist(a, b) ** 2 for b in points] for a in points]
    return [row[:-1] for row in away[:-1]], away[-1][:-1]


@given(places())
def test_a_mixture_is_one(given):
    """Weights sum to one, none is negative, and no campaign alone would do better."""
    between, to = given
    found = mixture(between, to)
    assert math.fsum(found.weights) == pytest.approx(1.0)
    assert min(found.weights) >= 0
    assert found.variance >= LEAST
    assert found.variance <= max(LEAST, 2 * min(to)) * (1 + 1e-6)


@given(places(), st.randoms())
def test_the_order_of_campaigns_does_not_matter(given, rng):
    """Each keeps its weight."""
    between, to = given
    order = list(range(len(to)))
    rng.shuffle(order)
    moved = mixture([[between[a][b] for b in order] for a in order], [to[a] for a in order])
    found = mixture(between, to)
    assert moved.variance == pytest.approx(found.variance, rel=1e-4)


def test_a_campaign_stored_twice_counts_hardly_more_than_once():
    """Two of a start of the machine are no two starts."""
    found = mixture([[0.0, NEAREST, 1.0], [NEAREST, 0.0, 1.0], [1.0, 1.0, 0.0]], [1.0, 1.0, 1.0])
    assert found.weights[0] == pytest.approx(found.weights[1])
    assert found.weights[0] + found.weights[1] == pytest.approx(0.5, abs=0.01)
    assert found.variance == pytest.approx(1.5, abs=0.01)


def test_nothing_cannot_be_mixed():
    """An error, no value."""
    with pytest.raises(ValueError, match="no campaign to mix"):
        mixture([], [])


def campaigns(count, noise=0.002, seed=1):
    """Values of so many campaigns."""
    columns = [column(seed * 100 + k, noise) for k in range(count)]
    return {case: {f"c{k}": one[case] for k, one in enumerate(columns)} for case in CASES}


def test_the_noise_of_each_case_is_found():
    """Whatever was stated, in order of magnitude."""
    found = fit(campaigns(8), dict.fromkeys(CASES, 0.01))
    assert math.sqrt(found.prior.scale) * 0.01 == pytest.approx(0.002, rel=0.15)
    assert found.usual == pytest.approx(1 + 1 / 7, rel=0.15)
    assert all(0.0012 < math.sqrt(spread.variance) < 0.0035 for spread in found.spreads.values())
    assert found.strangeness(found.to(column(999, 0.002))) == pytest.approx(1.0, abs=0.5)
    assert found.strangeness(found.to(column(999, 0.006))) > 3


@pytest.mark.parametrize("count", range(6))
def test_few_campaigns_say_little(count):
    """Of fewer than four nothing is like anything, and nothing is strange."""
    found = fit(campaigns(count) if count else {}, dict.fromkeys(CASES, 0.01) if count else {})
    strange = found.strangeness(found.to(column(999, 1.0)))
    assert bool(found.distances) == (strange > STRANGE) == (count >= 4)
    assert strange == 1.0 or count >= 4


def test_a_run_of_few_cases_is_like_nobody():
    """Then the mean of all campaigns counts, which others compute."""
    found = fit(campaigns(6), dict.fromkeys(CASES, 0.01))
    assert found.to({"case0": 0.0}) == {}
    assert found.expected("case0", {}) is None
    assert Likeness().strangeness({}) == 1.0


def test_campaigns_that_lack_a_case_are_mixed_without_it():
    """Each case has the campaigns that it has."""
    stored = campaigns(6)
    stored["case0"] = {"c2": 1.5}
    found = fit(stored, dict.fromkeys(CASES, 0.01))
    value, variance = found.expected("case0", found.to(column(999, 0.002)))
    assert value == 1.5
    assert variance > found.expected("case1", found.to(column(999, 0.002)))[1]
    assert found.expected("unknown", found.to(column(999, 0.002))) is None


def test_a_case_of_one_start_is_no_quieter_than_its_cards():
    """No other start predicts it, so that the others' noise was all that was known of it."""
    stored = campaigns(8) | {"apart": {"c0": 0.05, "c1": -0.05}, "close": {"c0": 0.0, "c1": 0.0}}
    found = fit(stored, dict.fromkeys(stored, 0.01), {"c0": "one", "c1": "one"})
    assert found.spreads["apart"].variance == pytest.approx(0.005)
    assert found.spreads["close"].variance == pytest.approx(found.prior.scale * 1e-4)


def test_unchanged_kernels_are_the_controls_where_they_are_enough():
    """Else all of them are."""
    assert controls(CASES, CASES[:FEWEST]) == set(CASES[:FEWEST])
    assert controls(CASES, CASES[: FEWEST - 1]) == set(CASES)
    assert controls(CASES, ["another"]) == set(CASES)
