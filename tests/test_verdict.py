"""Every kind of verdict, its reason, and what it does to a run."""

import itertools
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_roofline.statistics import Summary
from pytest_roofline.verdict import (
    FAILING,
    WARNING,
    Kind,
    Reason,
    Roof,
    Verdict,
    compare,
    hold_against_roof,
    judge,
)


def run(seconds, power_limited=False):
    """A stored run of that typical time."""
    return Summary(math.log(seconds), (seconds,) * 5, 100, power_limited)


QUIET = [run(1e-3 * s) for s in (0.999, 0.9995, 1.0, 1.0005, 1.001)]
SHORT = [run(2e-6)]


@pytest.mark.parametrize(
    ("seconds", "baseline", "kind", "reason"),
    [
        (1.10e-3, QUIET, Kind.REGRESSION, Reason.SLOWER),
        (1.02e-3, QUIET, Kind.REGRESSION, Reason.SLOWER),
        (1.004e-3, QUIET, Kind.SAME, Reason.WITHIN_SPREAD),
        (1.0e-3, QUIET, Kind.SAME, Reason.WITHIN_SPREAD),
        (0.9e-3, QUIET, Kind.IMPROVEMENT, Reason.FASTER),
        (1.10e-3, QUIET[:1], Kind.REGRESSION, Reason.SLOWER),
        (1.004e-3, QUIET[2:3], Kind.SAME, Reason.WITHIN_SPREAD),
        (2.06e-6, SHORT, Kind.SAME, Reason.WITHIN_SPREAD),
        (3.0e-6, SHORT, Kind.REGRESSION, Reason.SLOWER),
        (1e-3, [], Kind.NEW, Reason.NO_BASELINE),
        # From one run's 0.010 x 2.576 x sqrt(2) = 3.64 %: beyond it a change, beyond it and 0.5 % a verdict.
        (1.036e-3, QUIET[2:3], Kind.SAME, Reason.WITHIN_SPREAD),
        (1.040e-3, QUIET[2:3], Kind.UNRESOLVED, Reason.BORDERLINE),
        (1.044e-3, QUIET[2:3], Kind.REGRESSION, Reason.SLOWER),
        (1e-3 / 1.040, QUIET[2:3], Kind.UNRESOLVED, Reason.BORDERLINE),
        (1e-3 / 1.044, QUIET[2:3], Kind.IMPROVEMENT, Reason.FASTER),
        (1.10e-3, [run(1e-3), run(1.004e-3)], Kind.REGRESSION, Reason.SLOWER),
        (1.03e-3, [run(1.03e-3), run(0.97e-3)], Kind.UNRESOLVED, Reason.TOO_NOISY),
        (1.026e-3, [run(1e-3, power_limited=True)], Kind.UNRESOLVED, Reason.TOO_NOISY),
        (1.10e-3, [run(1e-3, power_limited=True)], Kind.REGRESSION, Reason.SLOWER),
        (1.026e-3, [run(1e-3, power_limited=True)] * 5, Kind.SAME, Reason.WITHIN_SPREAD),
    ],
)
def test_a_run_against_its_baseline(seconds, baseline, kind, reason):
    """10 % is found with one stored run, 3 % is noise; a power-limited case or a wide spread cannot tell."""
    found = compare(run(seconds), baseline)
    assert (found.kind, found.reason, found.campaigns) == (kind, reason, len(baseline))


@pytest.mark.parametrize("seconds", [1.1e-3, 0.9e-3])
def test_a_changed_environment_takes_the_blame(seconds):
    """Slower or faster under another driver says nothing about the kernel, and the difference is named."""
    found = compare(run(seconds), QUIET, ["driver 1 -> 2"])
    assert (found.kind, found.reason) == (Kind.ENVIRONMENT, Reason.FINGERPRINT)
    assert "driver 1 -> 2" in found.sentence


def test_the_same_time_in_a_changed_environment_is_the_same():
    """An environment that changed nothing needs no warning, but is named."""
    found = compare(run(1e-3), QUIET, ["driver 1 -> 2"])
    assert found.kind is Kind.SAME
    assert "driver 1 -> 2" in found.sentence


def test_who_cannot_tell_says_what_could_be_told():
    """An unresolved case states the smallest slowdown that would have shown."""
    found = compare(run(1.01e-3), [run(1e-3, power_limited=True)])
    assert found.kind is Kind.UNRESOLVED
    assert found.sentence.endswith(f"a slowdown below {100 * found.change.detectable:.1f} % might not show")


@pytest.mark.parametrize("seconds", [5e-5, 1e-4, 1e-2])
@pytest.mark.parametrize("campaigns", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("noise", [-0.004, 0.0, 0.004])
def test_ten_percent_are_found_and_the_measured_noise_is_not(seconds, campaigns, noise):
    """Above 50 us, medians of unchanged kernels differed by up to 0.4 % between starts of an H200."""
    baseline = [run(seconds * (1 + noise * (-1) ** k / 2)) for k in range(campaigns)]
    assert compare(run(seconds * (1 + noise)), baseline).kind is Kind.SAME
    slow = compare(run(seconds * 1.10 * (1 + noise)), baseline).kind
    assert slow is Kind.REGRESSION


@pytest.mark.parametrize("seconds", [1e-6, 2e-6, 4.9e-6])
@pytest.mark.parametrize("campaigns", range(1, 11))
@pytest.mark.parametrize("ratio", [0.97, 1.0, 1.03])
def test_three_percent_of_a_short_kernel_are_noise(seconds, campaigns, ratio):
    """Below 5 us nothing is concluded from 3 %, however few or many campaigns are stored."""
    found = compare(run(seconds * ratio), [run(seconds)] * campaigns)
    assert found.kind in (Kind.SAME, Kind.UNRESOLVED)


@given(st.lists(st.floats(0.8, 1.25), min_size=1, max_size=8), st.data())
def test_a_stored_run_measured_again_is_never_a_regression(spread, data):
    """However far the campaigns lie apart, each of them was the same kernel."""
    baseline = [run(1e-3 * s) for s in spread]
    again = data.draw(st.sampled_from(baseline))
    assert compare(again, baseline).kind in (Kind.SAME, Kind.UNRESOLVED)


@given(st.floats(1e-7, 1e-2), st.floats(1.0, 3.0), st.lists(st.floats(0.98, 1.02), min_size=1, max_size=8))
def test_improvement_and_regression_mirror_each_other(seconds, ratio, spread):
    """What holds for a slowdown holds for the inverse speed-up."""
    mirror = {Kind.REGRESSION: Kind.IMPROVEMENT}
    centre = math.exp(sum(map(math.log, spread)) / len(spread))
    baseline = [run(seconds * s) for s in spread]
    slower, faster = (compare(run(seconds * centre * r), baseline) for r in (ratio, 1 / ratio))
    edge = min(abs(x) for x in (slower.change.low - 1, slower.change.low - 1.005, slower.change.ratio - 1.005))
    assume(edge > 1e-9)
    assert faster.kind is mirror.get(slower.kind, slower.kind)


@given(st.floats(1.0, 3.0), st.floats(1.0, 3.0), st.integers(1, 8))
def test_a_larger_slowdown_is_never_judged_more_kindly(a, b, campaigns):
    """Same, unresolved, regression, in this order."""
    order = [Kind.SAME, Kind.UNRESOLVED, Kind.REGRESSION]
    low, high = (compare(run(1e-3 * r), [run(1e-3)] * campaigns).kind for r in sorted((a, b)))
    assert order.index(low) <= order.index(high)


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_time_is_invalid(seconds):
    """A failed measurement is neither impossible nor fine."""
    (found,) = hold_against_roof(seconds, Roof(datasheet=1.0, ceiling=1.1, floor=0.5))
    assert (found.kind, found.reason, found.fails()) == (Kind.INVALID, Reason.NO_TIME, True)


@pytest.mark.parametrize(
    ("seconds", "roof", "kinds"),
    [
        (0.9, Roof(datasheet=1.0), [Kind.IMPOSSIBLE]),
        (0.9, Roof(datasheet=1.0, ceiling=1.2), [Kind.IMPOSSIBLE]),
        (1.1, Roof(datasheet=1.0, ceiling=1.2), [Kind.STALE_CEILING]),
        (1.19, Roof(datasheet=1.0, ceiling=1.2), []),
        (2.0, Roof(datasheet=1.0, floor=0.6, floor_reason="r"), [Kind.BELOW_FLOOR]),
        (1.5, Roof(datasheet=1.0, floor=0.6, floor_reason="r"), []),
        (2.0, Roof(floor=0.6), []),
        (1e-9, Roof(), []),
    ],
)
def test_a_time_against_the_roof(seconds, roof, kinds):
    """Above the datasheet is impossible, above a measured ceiling makes that stale, below the floor is too slow."""
    assert [v.kind for v in hold_against_roof(seconds, roof)] == kinds


def test_the_floor_is_told_with_its_reason():
    """Who reads the failure learns where the floor comes from."""
    (found,) = hold_against_roof(2.0, Roof(datasheet=1.0, floor=0.6, floor_reason="0.7 was measured"))
    assert found.sentence == "50.0 % of the bound, its floor is 60 % (0.7 was measured)"


@pytest.mark.parametrize("kind", Kind)
def test_what_fails_a_run(kind):
    """Exactly the failing kinds fail, strict fails the warnings too, the rest never."""
    verdict = Verdict(kind, Reason.SLOWER, "")
    assert verdict.fails() == (kind in FAILING)
    assert verdict.fails(strict=True) == (kind in FAILING | WARNING)


def test_the_rules_of_failing_are_those_of_the_documentation():
    """Listed once more by hand, so that a change here is a decision."""
    names = lambda kinds: {k.value for k in kinds}  # noqa: E731
    assert names(FAILING) == {"regression", "impossible", "below_floor", "orphan", "invalid", "missing"}
    assert names(WARNING) == {"unresolved", "new", "environment", "stale_ceiling"}


ORDER = ["invalid", "impossible", "below_floor", "regression", "orphan", "missing", "environment", "stale_ceiling"]
ORDER += ["unresolved", "new", "improvement", "same", "information"]


def test_precedence_knows_every_kind():
    """No verdict can be too new to be judged."""
    assert sorted(ORDER) == sorted(kind.value for kind in Kind)


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(ORDER, 2)))
def test_precedence(first, second):
    """What is wrong with the measurement comes first, then what fails, then what warns, in whatever order given."""
    verdicts = [Verdict(Kind(second), Reason.SLOWER, "b"), Verdict(Kind(first), Reason.FASTER, "a")]
    found = judge(verdicts)
    assert (found.kind, found.reason) == (Kind(first), Reason.FASTER)
    assert judge(verdicts[::-1]) == found


def test_there_is_no_verdict_about_nothing():
    """A case without any comparison is a mistake of the caller."""
    with pytest.raises(ValueError, match="nothing to judge"):
        judge([])


def test_no_failure_hides_behind_another():
    """A kernel below its floor that also became slower says both, with the numbers of the comparison."""
    below = hold_against_roof(1.1e-3, Roof(datasheet=1e-4, floor=0.5, floor_reason="r"))
    found = judge([*below, compare(run(1.1e-3), QUIET)])
    assert (found.kind, found.campaigns) == (Kind.BELOW_FLOOR, 5)
    assert found.change is not None
    assert "; also regression: +10.0 %" in found.sentence


def test_beside_an_impossible_time_nothing_else_is_told():
    """A time that cannot be true is no evidence of a regression."""
    found = judge([*hold_against_roof(1.1e-3, Roof(datasheet=1.2e-3)), compare(run(1.1e-3), QUIET)])
    assert found.kind is Kind.IMPOSSIBLE
    assert "regression" not in found.sentence


@given(st.floats(0.5, 2), st.integers(1, 8))
def test_a_baseline_of_fewer_than_five_campaigns_is_provisional(ratio, count):
    """However clear the result, it says on how little it rests."""
    assert compare(run(1e-3 * ratio), [run(1e-3)] * count).provisional == (count < 5)
