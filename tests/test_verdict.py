"""Every kind of verdict, and what it does to a run."""

import itertools

import pytest

from pytest_roofline.statistics import Change
from pytest_roofline.verdict import FAILING, WARNING, Kind, Reason, Verdict, judge

REGRESSION = Verdict(Kind.REGRESSION, Reason.SLOWER, "+10.0 %", Change(1.1, 1.08, 1.12, 0.02), campaigns=5)


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
    found = judge([Verdict(Kind.BELOW_FLOOR, Reason.UNDER_FLOOR, "9 % of the bound"), REGRESSION])
    assert (found.kind, found.campaigns) == (Kind.BELOW_FLOOR, 5)
    assert found.change == REGRESSION.change
    assert found.sentence == "9 % of the bound; also regression: +10.0 %"


def test_beside_an_impossible_time_nothing_else_is_told():
    """A time that cannot be true is no evidence of a regression."""
    found = judge([Verdict(Kind.IMPOSSIBLE, Reason.ABOVE_ROOF, "1.09 of the datasheet bound"), REGRESSION])
    assert found.kind is Kind.IMPOSSIBLE
    assert "regression" not in found.sentence
