"""What counts and code say of a case, apart from who asks."""

from pytest_roofline.baselines import CountedCase
from pytest_roofline.cost import Changes, Code, changes
from pytest_roofline.counting.comparing import Difference
from pytest_roofline.counting.counts import CaseCounts
from pytest_roofline.verdict import Kind, Reason, Verdict
from tests.counting.test_comparing import code

KEY = "copy.cu:copy threads=256"
BEFORE = CountedCase(CaseCounts(), (KEY,))
STORED = {code().compiler: {KEY: code()}}
OTHERWISE = Verdict(Kind.SAME, Reason.COUNTS_EQUAL, "as it was")


def test_one_thing_that_costs_more_fails_whatever_costs_less():
    """Only what is worse is told then; an improvement comes with what to do about it."""
    better, worse = Difference("sectors", False, "8 for 9"), Difference("spills", True, "64 bytes")
    found = Changes((better, worse)).verdict(OTHERWISE, " (accept it)")
    assert (found.kind, found.sentence) == (Kind.REGRESSION, "spills: 64 bytes")
    found = Changes((better,)).verdict(OTHERWISE, " (accept it)")
    assert (found.kind, found.sentence) == (Kind.IMPROVEMENT, "sectors: 8 for 9 (accept it)")
    assert Changes(()).verdict(OTHERWISE) is OTHERWISE


def test_a_launch_of_which_no_code_is_known_is_not_compared():
    """As where its compiler's results are not stored beside it."""
    assert changes(BEFORE, STORED, CaseCounts(), Code((KEY,))) == Changes(())
    assert changes(BEFORE, STORED, CaseCounts(), Code((KEY,), (), {KEY: code()})).compared == {KEY}


def test_what_was_not_compiled_says_nothing_of_launches():
    """No compiler here is no launch less."""
    before = CountedCase(CaseCounts(uncounted=True), (KEY,), ("aten::zero_",))
    assert changes(before, STORED, CaseCounts(uncounted=True), Code(missing="no compiler")).differences == ()
    told = changes(before, STORED, CaseCounts(uncounted=True), Code((KEY,), (), {KEY: code()})).differences
    assert [d.sentence for d in told] == ["torch is asked for nothing, before for aten::zero_"]
