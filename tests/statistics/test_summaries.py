"""Summaries are what they claim, whatever the scale."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.statistics import QUANTILES, Summary, middle, quantile, summarise

times = st.floats(1e-7, 1.0)
runs = st.lists(times, min_size=2, max_size=50)


def test_outliers_on_both_sides_do_not_move_the_mean():
    """A fifth of the samples at each end is left out."""
    assert summarise([1e-9, *[2e-6] * 8, 1.0]).seconds == pytest.approx(2e-6)


@given(runs, st.floats(0.1, 10))
def test_scaling_all_samples_scales_the_summary(samples, factor):
    """The unit does not matter."""
    a, b = summarise(samples), summarise([s * factor for s in samples])
    assert b.seconds == pytest.approx(a.seconds * factor)
    assert b.median == pytest.approx(a.median * factor)


@given(runs)
def test_a_summary_lies_within_its_samples(samples):
    """Typical time and quantiles are between the extremes and ascend."""
    found = summarise(samples)
    assert min(samples) * (1 - 1e-12) <= found.seconds <= max(samples) * (1 + 1e-12)
    assert list(found.quantiles) == sorted(found.quantiles)


@pytest.mark.parametrize("samples", [[], [1.0], [1.0, math.nan], [1.0, 0.0], [1.0, -1.0], [1.0, math.inf]])
def test_no_summary_from_too_little_or_nonsense(samples):
    """One sample, NaN and times that are not positive give an error, never a number."""
    with pytest.raises(ValueError, match=r"at least two samples|positive, finite"):
        summarise(samples)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"log_mean": math.nan}, "finite"),
        ({"log_mean": math.inf}, "finite"),
        ({"log_mean": 1.0}, "within the quantiles"),
        ({"count": 1}, "at least two samples"),
        ({"quantiles": (1.0,) * 4}, "5 positive quantiles"),
        ({"quantiles": (1.0, 1.0, math.nan, 1.0, 1.0)}, "5 positive quantiles"),
        ({"quantiles": (0.0, 1.0, 1.0, 1.0, 1.0)}, "5 positive quantiles"),
        ({"quantiles": (1.0, 2.0, 1.5, 2.0, 2.0)}, "ascend"),
    ],
)
def test_no_summary_can_hold_what_no_samples_give(changes, message):
    """Also one read from a file: nothing that compares summaries ever meets NaN or a single sample."""
    with pytest.raises(ValueError, match=message):
        Summary(**{"log_mean": 0.0, "quantiles": (1.0,) * 5, "count": 100, **changes})


def test_quantiles_interpolate():
    """The median of four numbers lies between the middle two."""
    assert quantile([1, 2, 3, 4], 0.5) == 2.5
    assert (quantile([1, 2], 0), quantile([1, 2], 1)) == (1, 2)


@given(st.lists(times, min_size=2, max_size=60).map(sorted))
def test_stored_quantiles_ascend_whatever_rounding_does(ordered):
    """A larger share never has a smaller quantile, and none leaves the samples: a file with others is refused."""
    found = [quantile(ordered, share) for share in QUANTILES]
    assert [ordered[0], *found, ordered[-1]] == sorted([ordered[0], *found, ordered[-1]])


@given(st.floats(1e-6, 1e-2), st.floats(-5e-7, 5e-7))
def test_a_shifted_run_is_longer_by_as_much(seconds, by):
    """Typical time and quantiles move together."""
    before = Summary(math.log(seconds), (seconds,) * 5, 100, True)
    after = before.shifted(by)
    assert after.seconds == pytest.approx(seconds + by)
    assert (after.median, after.power_limited) == (pytest.approx(seconds + by), True)


def test_no_run_is_shorter_than_nothing():
    """What would leave no time gives no summary."""
    assert Summary(math.log(1e-6), (1e-6,) * 5, 100).shifted(-1e-6) is None


def test_cycles_need_a_clock():
    """2 us at 1500 MHz are 3000 cycles; without a clock there are none, and a clock of nothing is refused."""
    assert math.exp(replace(summarise([2e-6] * 3), clock_mhz=1500.0).log_cycles) == pytest.approx(3000)
    assert summarise([2e-6] * 3).log_cycles is None
    with pytest.raises(ValueError, match="positive number of MHz"):
        replace(summarise([2e-6] * 3), clock_mhz=0.0)


def test_the_middle_of_several_processes():
    """The median of their times, and of their cycles, whatever the others did; a clock that one lacks is not known."""
    runs = [replace(summarise([t] * 3), clock_mhz=c) for t, c in ((3e-6, 1000.0), (1e-6, 1500.0), (2e-6, 1500.0))]
    found = middle(runs)
    assert found.seconds == pytest.approx(2e-6)
    assert found.median == pytest.approx(2e-6)
    assert math.exp(found.log_cycles) == pytest.approx(3000)
    assert middle([*runs[:2], summarise([2e-6] * 3)]).clock_mhz is None
    with pytest.raises(ValueError, match="no run"):
        middle([])
