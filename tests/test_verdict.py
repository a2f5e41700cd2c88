"""Every kind of verdict, its reason, and what it does to a run."""

import math

import pytest
from hypothesis import given
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


def run(seconds):
    """A stored run of that typical time."""
    return Summary(math.log(seconds), (seconds,) * 5, 100)


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
        (2.06e-6, SHORT, Kind.UNRESOLVED, Reason.TOO_NOISY),
        (3.0e-6, SHORT, Kind.REGRESSION, Reason.SLOWER),
        (1e-3, [], Kind.NEW, Reason.NO_BASELINE),
    ],
)
def test_a_run_against_its_baseline(seconds, baseline, kind, reason):
    """10 % is found above 50 us with one stored run, 0.4 % is noise, and a short kernel with one run cannot tell."""
    found = compare(run(seconds), baseline)
    assert (found.kind, found.reason, found.campaigns) == (kind, reason, len(baseline))


@pytest.mark.parametrize("seconds", [1.1e-3, 0.9e-3])
def test_a_changed_environment_takes_the_blame(seconds):
    """Slower or faster under another driver says nothing about the kernel, and the difference is named."""
    found = compare(run(seconds), QUIET, ["driver 1 -> 2"])
    assert (found.kind, found.reason) == (Kind.ENVIRONMENT, Reason.FINGERPRINT)
    assert "driver 1 -> 2" in found.sentence


def test_the_same_time_in_a_changed_environment_is_the_same():
    """An environment that changed nothing needs no warning."""
    assert compare(run(1e-3), QUIET, ["driver 1 -> 2"]).kind is Kind.SAME


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


def test_precedence():
    """What is wrong with the measurement comes first, then what fails, then what warns."""
    order = ["invalid", "impossible", "below_floor", "regression", "environment", "stale_ceiling", "unresolved", "new"]
    order += ["improvement", "same", "information"]
    verdicts = [Verdict(Kind(name), Reason.SLOWER, "") for name in order]
    while verdicts:
        assert judge(list(reversed(verdicts))) is verdicts[0]
        verdicts.pop(0)
    with pytest.raises(ValueError, match="nothing to judge"):
        judge([])


@given(st.floats(0.5, 2), st.integers(1, 8))
def test_a_baseline_of_fewer_than_five_campaigns_is_provisional(ratio, count):
    """However clear the result, it says on how little it rests."""
    assert compare(run(1e-3 * ratio), [run(1e-3)] * count).provisional == (count < 5)
