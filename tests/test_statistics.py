"""Summaries and changes are what they claim, whatever the scale."""

import dataclasses
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_roofline.statistics import MINIMAL, QUANTILES, Summary, change, noise_floor, quantile, summarise

times = st.floats(1e-7, 1.0)
runs = st.lists(times, min_size=2, max_size=50)


def run(seconds):
    """A stored run of that typical time."""
    return Summary(math.log(seconds), (seconds,) * 5, 100)


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


@given(st.floats(1e-7, 1.0), st.floats(1e-7, 1.0))
def test_shorter_kernels_are_never_believed_to_be_less_noisy(a, b):
    """The noise floor falls with the time and stays between 0.2 and 2 %."""
    low, high = sorted((a, b))
    assert 0.002 <= noise_floor(high) <= noise_floor(low) <= 0.02


@given(times, st.lists(st.floats(0.99, 1.01), min_size=1, max_size=8), st.floats(0.5, 2.0), st.floats(0.1, 10))
def test_a_change_does_not_depend_on_the_scale(seconds, spread, ratio, factor):
    """Ratio and interval of kernels above 50 us stay the same when everything takes longer."""
    seconds = max(seconds, 1e-3)
    assume(seconds * factor > 1e-4)
    a = change(run(seconds * ratio), [run(seconds * s) for s in spread])
    b = change(run(seconds * ratio * factor), [run(seconds * s * factor) for s in spread])
    assert (a.ratio, a.low, a.high) == pytest.approx((b.ratio, b.low, b.high))


@given(st.floats(0.5, 2.0), st.integers(1, 6))
def test_slower_and_faster_are_mirror_images(ratio, count):
    """The interval of 1/r is the inverse of that of r, so improvement and regression are judged alike."""
    baseline = [run(1e-3)] * count
    up, down = change(run(1e-3 * ratio), baseline), change(run(1e-3 / ratio), baseline)
    assert (up.low, up.high) == pytest.approx((1 / down.high, 1 / down.low))


@given(st.floats(1, 2), st.floats(1, 2))
def test_a_larger_slowdown_has_a_larger_lower_end(a, b):
    """The evidence grows with the slowdown."""
    low, high = sorted((a, b))
    baseline = [run(1e-3 * s) for s in (0.999, 1, 1.001)]
    assert change(run(1e-3 * low), baseline).low <= change(run(1e-3 * high), baseline).low


def test_more_runs_of_a_quiet_case_narrow_the_interval():
    """Each campaign adds certainty; one or two are not trusted to know their own spread."""
    widths = [change(run(1e-3), [run(1e-3)] * k).detectable for k in (1, 2, 3, 10)]
    assert widths == sorted(widths, reverse=True)


def test_two_runs_that_disagree_are_not_believed_to_agree():
    """With two campaigns their difference counts as soon as it exceeds the stated noise."""
    quiet, apart = ([run(1e-3), run(1e-3 * ratio)] for ratio in (1.004, 1.05))
    assert change(run(1e-3), quiet).detectable == pytest.approx(change(run(1e-3), [run(1e-3)] * 2).detectable)
    assert change(run(1e-3), apart).low < 0.97


def test_power_limited_runs_are_trusted_less():
    """Their clocks differ between starts of the machine, so whatever K runs show, 1.4 % of spread is assumed."""
    limited = dataclasses.replace(run(1e-3), power_limited=True)
    for count in (1, 2, 5):
        assert change(run(1e-3), [limited] * count).detectable > change(run(1e-3), [run(1e-3)] * count).detectable


@given(st.floats(1e-7, 1e-2), st.lists(st.floats(0.98, 1.02), min_size=1, max_size=8))
def test_a_detectable_slowdown_shows_even_if_measured_low(seconds, spread):
    """A kernel slower by ``detectable`` whose run comes out at the low end of its interval still exceeds MINIMAL."""
    baseline = [run(seconds * s) for s in spread]
    found = change(run(seconds), baseline)
    half = math.log(found.high / found.ratio)
    centre = seconds / found.ratio
    measured = change(run(centre * (1 + found.detectable) * math.exp(-half)), baseline)
    assert measured.low == pytest.approx(1 + MINIMAL)


def test_without_a_baseline_there_is_no_change():
    """An empty baseline is an error, not a ratio."""
    with pytest.raises(ValueError, match="no baseline"):
        change(run(1e-3), [])
