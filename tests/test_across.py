"""Two devices side by side: shares of each own bound, what is comparable, and how far an estimate is off."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.across import Caveat, Pair, Side, caveats, estimate, side, trust
from pytest_roofline.baselines import Baseline, Published
from pytest_roofline.contract import Memory, Pipeline, Traffic, Work
from pytest_roofline.devices.record import load
from pytest_roofline.discovery import discover
from pytest_roofline.reports import across
from pytest_roofline.roofline import assess

H200, A100 = load("h200"), load("a100_sxm4_80gb")
CASE = "softmax/torch/softmax/f32/8192x8192"
times = st.floats(1e-5, 1e-2)


@pytest.fixture(scope="module")
def catalogue(request):
    return discover(request.config.rootpath, ["suite/operations"])


def pair(here, there, case=CASE, found=()):
    """Shares of the bounds on both devices, where the bounds are 1 ms and 2 ms."""
    return Pair(case, Side("h200", 1e-3 / here, 1e-3), Side("a100", 2e-3 / there, 2e-3), found, "method", "source")


def figure(seconds, device="a100_sxm4_80gb", source="a paper"):
    return Published(device, "time", 1.0, "ms", seconds, "as published", "eager", source, "events", "high")


def test_equal_shares_foretell_exactly():
    """A kernel at 80 % here and there takes what is expected."""
    assert pair(0.8, 0.8).error == pytest.approx(0)
    assert pair(0.8, 0.4).error == pytest.approx(math.log(0.5))


@given(times, times, times, times)
def test_the_expectation_is_a_ratio_of_shares(bound_here, bound_there, seconds_here, seconds_there):
    """It depends on the two shares only, whatever the bounds."""
    found = Pair(CASE, Side("a", seconds_here, bound_here), Side("b", seconds_there, bound_there), (), "", "")
    assert found.error == pytest.approx(math.log(found.there.share / found.here.share), abs=1e-9)


def test_a_family_is_trusted_by_its_typical_error():
    """15 % rms of at least three pairs; families apart."""
    good = [pair(0.8, share) for share in (0.75, 0.8, 0.88)]
    bad = [pair(0.8, share, "sum/torch/sum/f32/1") for share in (0.75, 0.8, 0.4)]
    found = trust([*good, *bad])
    assert found["softmax"].given
    assert not found["sum"].given
    assert found["sum"].worst == pytest.approx(math.log(0.5))


def test_two_pairs_are_an_anecdote():
    """However well they agree."""
    assert not trust([pair(0.8, 0.8)] * 2)["softmax"].given


def test_what_is_not_comparable_lends_no_trust():
    """Pairs with a caveat are shown, not counted."""
    found = trust([pair(0.8, 0.8, found=(Caveat.CACHED,))] * 5)["softmax"]
    assert found.pairs == 0
    assert not found.given


def test_no_estimate_without_trust():
    """Neither of a family that nobody published nor of one that is off by too much."""
    mine = Side("h200", 2e-3, 1e-3)
    assert estimate(mine, 3e-3, None) is None
    assert estimate(mine, 3e-3, trust([pair(0.8, 0.4)] * 3)["softmax"]) is None
    assert estimate(mine, 3e-3, trust([pair(0.8, 0.8)] * 3)["softmax"]) == pytest.approx(6e-3)


def test_small_sets_may_have_been_warm():
    """What fits into a cache is cold here; a product of matrices is not held by its first reading."""
    stream = Work({}, Traffic(1 << 22, 1 << 22))
    product = Work({Pipeline.FP32: 2 * 1024**3}, Traffic(2 << 22, 1 << 22))
    devices = (H200, A100)
    assert caveats(stream, (1e-4, 1e-4), devices) == (Caveat.CACHED,)
    assert caveats(product, (1e-4, 1e-4), devices) == ()
    assert caveats(Work({}, Traffic(1 << 29, 1 << 29)), (1e-4, 1e-4), devices) == ()
    assert caveats(Work({}, Traffic(1 << 20, 1 << 20, Memory.HOST)), (1e-4, 1e-4), devices) == ()


def test_short_times_hold_a_launch():
    """20 us and less, on either side."""
    work = Work({}, Traffic(1 << 29, 1 << 29))
    assert caveats(work, (1e-5, 1e-4), (H200, A100)) == (Caveat.BRIEF,)
    assert caveats(work, (1e-4, 1e-5), (H200, A100)) == (Caveat.BRIEF,)


def test_a_time_needs_a_bound():
    """No side without one, nor for a time of zero."""
    assert side("x", 1e-3, assess(Work({}, Traffic(1, 1)))) is None
    assert side("h200", 0.0, assess(Work({}, Traffic(1, 1)), record=H200)) is None


def test_the_section_shows_both_shares(catalogue):
    """Each of its own datasheet bound: 512 MiB at 4800 and at 2039 GB/s."""
    baseline = Baseline("a100", "softmax", published={CASE: [figure(5e-4)]})
    found = across.pairs({CASE: 2.5e-4}, H200, [baseline], catalogue)
    [line] = [text for text in across.section(found) if "a100_sxm4_80gb" in text]
    assert f"{100 * 2**29 / 4.8e12 / 2.5e-4:.1f}%" in line
    assert f"{100 * 2**29 / 2.039e12 / 5e-4:.1f}%" in line
    assert len(line) <= 80


def test_verbose_names_method_and_source(catalogue):
    """Every figure is traceable."""
    found = across.pairs(
        {CASE: 2.5e-4}, H200, [Baseline("a100", "softmax", published={CASE: [figure(5e-4)]})], catalogue
    )
    assert not [text for text in across.section(found) if "a paper" in text]
    assert [text for text in across.section(found, verbose=True) if "a paper" in text]


def test_a_figure_printed_twice_is_one(catalogue):
    """A rate beside its time adds no evidence; another source does."""
    twice = Baseline("a100", "softmax", published={CASE: [figure(5e-4), figure(5.001e-4), figure(5e-4, source="b")]})
    assert len(across.pairs({CASE: 2.5e-4}, H200, [twice], catalogue)) == 2


def test_nothing_published_says_nothing(catalogue):
    """No section, no line."""
    assert across.section(across.pairs({CASE: 2.5e-4}, H200, [], catalogue)) == []


def test_the_own_device_is_not_another(catalogue):
    """Published figures of the device at hand are no other device's."""
    same = Baseline("h200", "softmax", published={CASE: [figure(5e-4, device="h200")]})
    assert across.pairs({CASE: 2.5e-4}, H200, [same], catalogue) == []
