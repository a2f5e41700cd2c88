"""The variance of one case from its own runs and from everybody's."""

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.statistics.noise import (
    MOST_DEGREES,
    Prior,
    Spread,
    between_pairs,
    between_runs,
    blend,
    by_start,
    fit_prior,
    moderate,
)


def test_a_prior_is_recovered_from_many_cases():
    """5,000 cases with variances around 0.3 of the stated one, 6 degrees of freedom apart, and four runs each."""
    rng = random.Random(3)
    variances = []
    for _ in range(5000):
        true = 0.3 * 6 / (2 * rng.gammavariate(3, 1))
        variances.append((true * 2 * rng.gammavariate(1.5, 1) / 3, 3))
    found = fit_prior(variances)
    assert 4950 < found.cases <= 5000
    assert found.scale == pytest.approx(0.3, rel=0.05)
    assert found.degrees == pytest.approx(6, rel=0.2)


def test_cases_of_equal_noise_share_it_almost_entirely():
    """Where variances scatter no more than chance makes them, one figure is worth as much as any prior may be."""
    rng = random.Random(2)
    found = fit_prior((2 * rng.gammavariate(2, 1) / 4, 4) for _ in range(400))
    assert found.degrees == MOST_DEGREES
    assert found.scale == pytest.approx(1, rel=0.1)


def test_a_noisy_case_among_quiet_ones_keeps_its_variance():
    """However sure the others are of theirs: pairs of -3 to +4 % are not known to 0.1 %."""
    rng = random.Random(1)
    prior = fit_prior((statistics.variance([rng.gauss(0, 1) for _ in range(4)]), 3) for _ in range(30))
    noisy = [[-0.02, 0.04, -0.02, 0.04], [-0.03, 0.02, 0.03, -0.02]]
    found = moderate(prior, 0.001, noisy)
    assert found.variance == pytest.approx(statistics.fmean(map(statistics.variance, noisy)))


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-0.1, 0.1), min_size=2))
def test_without_starts_every_campaign_is_its_own(values):
    """Mean and variance are the usual ones."""
    level, variance, degrees = by_start(values, {})
    assert level == pytest.approx(statistics.fmean(values.values()))
    assert variance == pytest.approx(statistics.variance(values.values()), abs=1e-12)
    assert degrees == len(values) - 1


def test_campaigns_of_one_start_count_as_one():
    """Four cards of one start and one of another: two starts, and a start weighs as much as the other."""
    values = dict(zip("abcde", [0.01, 0.01, 0.01, 0.01, 0.03], strict=True))
    found = by_start(values, dict.fromkeys("abcd", "one"))
    assert found == (pytest.approx(0.02), pytest.approx(2e-4), 1)
    assert by_start({"a": 0.01}, {})[1:] == (0.0, 0)
    with pytest.raises(ValueError, match="no campaign"):
        by_start({}, {})


def test_a_case_of_one_start_scatters_at_least_as_its_cards():
    """Which no degree of freedom says; cards that agree say nothing."""
    prior, starts = Prior(1.0, 8.0, 100), dict.fromkeys("ab", "one")
    apart, close = by_start({"a": -0.03, "b": 0.03}, starts), by_start({"a": 1.0, "b": 1.0}, starts)
    assert apart[1:] == (pytest.approx(0.0018), 0)
    assert blend(prior, 0.01, *apart[1:]) == Spread(apart[1], 8.0)
    assert blend(prior, 0.01, *close[1:]) == Spread(1e-4, 8.0)


def test_kernels_that_changed_unnoticed_do_not_make_everything_noisy():
    """A twentieth of the cases moved by ten times the noise between campaigns: the prior is that of the others."""
    rng = random.Random(4)
    quiet = [(rng.gauss(0, 0.5) ** 2, 1) for _ in range(190)]
    clean, mixed = fit_prior(quiet), fit_prior([*quiet, *[(100.0, 1)] * 10])
    assert (mixed.scale, mixed.degrees) == (pytest.approx(clean.scale), pytest.approx(clean.degrees))


def test_a_few_cases_are_no_suite():
    """Nine variances fit nothing: the stated noise stands."""
    assert fit_prior([(0.01, 4)] * 9) == Prior()
    assert fit_prior([(0.01, 4)] * 10).cases == 10


def test_runs_without_a_spread_are_not_believed():
    """Summaries that agree to the last bit do not make a machine without noise."""
    assert fit_prior([(0.0, 4)] * 50).scale > 0


@given(st.floats(1e-7, 1.0), st.floats(1e-7, 1.0))
def test_shorter_kernels_are_never_believed_to_be_less_noisy(a, b):
    """Both stated figures fall with the time."""
    low, high = sorted((a, b))
    assert between_runs(high) <= between_runs(low) <= 0.02
    assert 0.001 <= between_pairs(high) <= between_pairs(low) <= 0.01
    assert between_runs(high, power_limited=True) >= 0.014


@given(st.lists(st.floats(-0.1, 0.1), min_size=2, max_size=10), st.floats(1, 50))
def test_a_moderated_variance_lies_between_the_two(values, degrees):
    """Drawn up towards the prior, never past it, and never down."""
    own, found = statistics.variance(values), moderate(Prior(1.0, degrees, 100), 0.01, [values])
    assert own * (1 - 1e-9) <= found.variance <= max(own, 1e-4) * (1 + 1e-9)
    assert found.degrees == pytest.approx(degrees + len(values) - 1)


def test_without_values_the_prior_stands():
    """One campaign, or none: nothing of the case's own."""
    found = moderate(Prior(0.25, 8.0, 100), 0.01, [[0.3]])
    assert (found.variance, found.degrees) == (pytest.approx(0.25e-4), 8.0)


def test_a_prior_that_is_infinitely_sure_hides_no_noise_either():
    """What a case has shown of its own is not taken for chance."""
    found = moderate(Prior(1.0, math.inf, 100), 0.01, [[0.0, 0.1]])
    assert found.variance == pytest.approx(0.005)
    assert math.isinf(found.degrees)
