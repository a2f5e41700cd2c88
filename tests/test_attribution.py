"""A change of a time against the baseline, and what takes the blame."""

import math
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_roofline.attribution import Circumstances, accepted, compare, settle, shift_sentence
from pytest_roofline.statistics import Change, Summary
from pytest_roofline.statistics.paired import Decision, Outcome
from pytest_roofline.statistics.screen import Shift, compare_run, history
from pytest_roofline.verdict import Kind, Reason, Verdict


def run(seconds, power_limited=False):
    """A stored run of that typical time."""
    return Summary(math.log(seconds), (seconds,) * 5, 100, power_limited)


QUIET = [run(1e-3 * s) for s in (0.999, 0.9995, 1.0, 1.0005, 1.001)]
SHORT = [run(2e-6)]


def held(current, baseline, around=None):
    """The verdict on a run of one of 40 cases that all scatter alike, in a run that has not moved as a whole."""
    if not baseline:
        return compare(None, 0, around)
    turned = [
        baseline[i % len(baseline) :] + baseline[: i % len(baseline)] for i in range(40)
    ]  # no campaign stands out
    suite = {f"case{i}": {f"c{k}": one for k, one in enumerate(runs)} for i, runs in enumerate(turned)}
    found = compare_run("case0", current, suite["case0"], history(suite), Shift(0.0, 5e-4, 40))
    return compare(found, len(baseline), around)


@pytest.mark.parametrize(
    ("seconds", "baseline", "kind", "reason"),
    [
        (1.10e-3, QUIET, Kind.REGRESSION, Reason.SLOWER),
        (1.02e-3, QUIET, Kind.REGRESSION, Reason.SLOWER),
        (1.01e-3, QUIET, Kind.UNRESOLVED, Reason.BORDERLINE),
        (1.003e-3, QUIET, Kind.SAME, Reason.WITHIN_SPREAD),
        (1.0e-3, QUIET, Kind.SAME, Reason.WITHIN_SPREAD),
        (1e-3 / 1.01, QUIET, Kind.UNRESOLVED, Reason.BORDERLINE),
        (0.9e-3, QUIET, Kind.IMPROVEMENT, Reason.FASTER),
        (1.15e-3, QUIET[2:3], Kind.REGRESSION, Reason.SLOWER),
        (1.02e-3, QUIET[2:3], Kind.SAME, Reason.WITHIN_SPREAD),
        (3.0e-6, SHORT, Kind.REGRESSION, Reason.SLOWER),
        (1.10e-3, QUIET[2:3], Kind.UNRESOLVED, Reason.TOO_NOISY),
        (1e-3 / 1.10, QUIET[2:3], Kind.UNRESOLVED, Reason.TOO_NOISY),
        (2.02e-6, SHORT, Kind.SAME, Reason.WITHIN_SPREAD),
        (2.10e-6, SHORT, Kind.UNRESOLVED, Reason.TOO_NOISY),
        (1e-3, [], Kind.NEW, Reason.NO_BASELINE),
        (1.00e-3, [run(1.02e-3), run(0.98e-3)] * 3, Kind.SAME, Reason.WITHIN_SPREAD),
        (1.03e-3, [run(1.1e-3), run(0.9e-3)] * 3, Kind.UNRESOLVED, Reason.TOO_NOISY),
        (1.026e-3, [run(1e-3, power_limited=True)], Kind.SAME, Reason.WITHIN_SPREAD),
    ],
)
def test_a_run_against_its_baseline(seconds, baseline, kind, reason):
    """Five quiet campaigns show 2 %, one shows 15 %; a wide spread cannot tell, and says so. What may be slower
    by 15 % is not the same, however near the whole interval comes to 1."""
    found = held(run(seconds), baseline)
    assert (found.kind, found.reason, found.campaigns) == (kind, reason, len(baseline))
    assert found.suspect == (kind is not Kind.SAME)


@pytest.mark.parametrize("seconds", [1.1e-3, 0.9e-3])
@pytest.mark.parametrize(
    ("around", "reason", "words"),
    [
        (Circumstances(["driver 1 -> 2"]), Reason.FINGERPRINT, "driver 1 -> 2"),
        (Circumstances(same_code=True), Reason.SAME_CODE, "the compiled code and its launch are those of the baseline"),
        (Circumstances(["driver 1 -> 2"], same_code=True), Reason.SAME_CODE, "driver 1 -> 2"),
        (Circumstances(floor=2e-7), Reason.LAUNCH_FLOOR, "an empty launch takes +200 ns more"),
    ],
)
def test_what_else_changed_takes_the_blame(seconds, around, reason, words):
    """Slower or faster says nothing about the kernel then, and the cause is named."""
    found = held(run(seconds), QUIET, around)
    assert (found.kind, found.reason) == (Kind.ENVIRONMENT, reason)
    assert words in found.sentence


@pytest.mark.parametrize(
    "around",
    [Circumstances(["driver 1 -> 2"]), Circumstances(same_code=True), Circumstances(same_code=True, clock=1.1)],
)
def test_the_same_time_is_the_same_whatever_changed(around):
    """What changed nothing needs no warning."""
    found = held(run(1e-3), QUIET, around)
    assert (found.kind, found.suspect) == (Kind.SAME, False)


@pytest.mark.parametrize(
    ("clock", "cycles", "kind"),
    [
        (1.03, False, Kind.UNRESOLVED),
        (0.97, False, Kind.SAME),
        (1.03, True, Kind.SAME),
        (0.97, True, Kind.UNRESOLVED),
    ],
)
def test_a_shifted_clock_is_always_suspect(clock, cycles, kind):
    """The same seconds at a higher clock are more cycles, the same cycles at a lower one more seconds, which a kernel
    that draws more power brings about itself. The other way round nothing hides, but the old kernel may tell more."""
    found = held(run(1e-3), QUIET, Circumstances(clock=clock, cycles=cycles, seconds=1.05))
    assert (found.kind, found.suspect) == (kind, True)
    assert (found.reason is Reason.CLOCK) == (kind is Kind.UNRESOLVED)
    assert ("(+5.0 % in seconds)" in found.sentence) == cycles


@pytest.mark.parametrize(
    ("seconds", "clock", "kind"),
    [
        (1.1e-3, 0.9, Kind.UNRESOLVED),
        (0.9e-3, 1.1, Kind.UNRESOLVED),
        (1.1e-3, 1.1, Kind.REGRESSION),
        (0.9e-3, 0.9, Kind.IMPROVEMENT),
    ],
)
def test_a_shifted_clock_leaves_open_whose_fault_it_is(seconds, clock, kind):
    """A kernel that draws more power lowers its own clock, so it is not cleared either; only the old kernel can tell.
    A change that goes against the clock is the kernel's."""
    found = held(run(seconds), QUIET, Circumstances(clock=clock))
    assert found.kind is kind
    if kind is Kind.UNRESOLVED:
        assert found.reason is Reason.CLOCK
        assert "--roofline-against tells" in found.sentence


@pytest.mark.parametrize("seconds", [1.1e-3, 0.9e-3])
@pytest.mark.parametrize(
    ("around", "reason"),
    [(Circumstances(strange=True), Reason.STRANGE), (Circumstances(host=True), Reason.HOST)],
)
def test_what_another_card_or_host_may_be_the_cause_of_is_left_open(seconds, around, reason):
    """A card like no stored one, or the host where that is what was timed: only the old kernel can tell."""
    found = held(run(seconds), QUIET, around)
    assert (found.kind, found.reason, found.suspect) == (Kind.UNRESOLVED, reason, True)
    assert "--roofline-against tells" in found.sentence
    assert held(run(seconds), QUIET, replace(around, same_code=True)).kind is Kind.ENVIRONMENT


def test_a_card_like_no_stored_one_clears_nobody():
    """What looks the same there may be slower: only unchanged code is."""
    found = held(run(1e-3), QUIET, Circumstances(strange=True))
    assert (found.kind, found.reason, found.suspect) == (Kind.UNRESOLVED, Reason.STRANGE, True)
    assert held(run(1e-3), QUIET, Circumstances(strange=True, same_code=True)).kind is Kind.SAME


@pytest.mark.parametrize(
    ("seconds", "whole", "around", "kind"),
    [
        (1e-3, 0.4, {}, Kind.UNRESOLVED),
        (1e-3, 0.4, {"same_code": True}, Kind.SAME),
        (1e-3, 0.4, {"differences": ["driver 1 -> 2"]}, Kind.ENVIRONMENT),
        (1e-3, -0.4, {}, Kind.SAME),
        (1.1e-3, 0.4, {}, Kind.REGRESSION),
        (0.7e-3, 0.4, {}, Kind.UNRESOLVED),
        (0.5e-3, 0.4, {}, Kind.IMPROVEMENT),
        (1.4e-3, -0.4, {}, Kind.UNRESOLVED),
        (1.6e-3, -0.4, {}, Kind.REGRESSION),
    ],
)
def test_a_slowdown_of_the_whole_run_clears_nobody(seconds, whole, around, kind):
    """Times are beside a run that moved as a whole. Where the code may have done that, no kernel of it is the same,
    none is faster that is as fast as ever, and none slower that only did not become faster."""
    found = held(run(seconds), QUIET, Circumstances(whole=whole, **around))
    assert found.kind is kind
    assert (found.reason is Reason.CAMPAIGN) == (kind is Kind.UNRESOLVED)
    if kind is Kind.UNRESOLVED:
        assert found.suspect
        assert found.fails(strict=True)
        assert "--roofline-against tells" in found.sentence


def test_a_run_that_moved_as_a_whole_says_whose_it_may_be():
    """The machine's where unchanged code shows it; else it is left open, and the old kernel is what tells."""
    machine = shift_sentence(Shift(0.4, 1e-3, 60, anchored=True), against=False)
    assert machine.startswith("environment: the whole run moved by +49.2 %")
    assert "over 60 cases of unchanged code" in machine
    either = shift_sentence(Shift(0.4, 1e-3, 60), against=False)
    assert either.startswith("unresolved: the whole run moved by +49.2 %")
    assert "are left unresolved; --roofline-against=REF tells" in either
    assert shift_sentence(Shift(-0.4, 1e-3, 60), against=True).startswith("environment: the whole run moved by -33.0 %")


def test_what_is_counted_in_cycles_is_not_excused_by_the_clock():
    """The clock is no part of the comparison then, and the unit is told."""
    found = held(run(1.1e-3), QUIET, Circumstances(clock=0.9, cycles=True))
    assert found.kind is Kind.REGRESSION
    assert "at equal clocks against 5 stored runs" in found.sentence
    faster = held(run(0.9e-3), QUIET, Circumstances(clock=0.9, cycles=True))
    assert (faster.kind, faster.reason) == (Kind.UNRESOLVED, Reason.CLOCK)  # memory does not slow down with the clock


def test_who_cannot_tell_says_what_could_be_told():
    """An unresolved case states the smallest slowdown that would have shown."""
    found = held(run(1.01e-3), [run(1.1e-3), run(0.9e-3)] * 3)
    assert found.kind is Kind.UNRESOLVED
    assert found.sentence.endswith(f"a slowdown below {100 * found.change.detectable:.1f} % might not show")


@pytest.mark.parametrize("seconds", [1e-6, 2e-6, 4.9e-6])
@pytest.mark.parametrize("campaigns", range(1, 4))
@pytest.mark.parametrize("ratio", [0.97, 1.0, 1.03])
def test_three_percent_of_a_short_kernel_are_noise(seconds, campaigns, ratio):
    """Below 5 us nothing is concluded from 3 % against a few campaigns."""
    runs = {f"c{k}": run(seconds) for k in range(campaigns)}
    found = compare(compare_run("a", run(seconds * ratio), runs, history({"a": runs}), Shift()), campaigns)
    assert found.kind in (Kind.SAME, Kind.UNRESOLVED)


@given(st.lists(st.floats(0.8, 1.25), min_size=1, max_size=8), st.data())
def test_a_stored_run_measured_again_is_never_a_regression(spread, data):
    """However far the campaigns lie apart, each of them was the same kernel."""
    baseline = [run(1e-3 * s) for s in spread]
    again = data.draw(st.sampled_from(baseline))
    runs = {f"c{k}": one for k, one in enumerate(baseline)}
    found = compare(compare_run("a", again, runs, history({"a": runs}), Shift()), len(runs))
    assert found.kind in (Kind.SAME, Kind.UNRESOLVED)


@settings(deadline=None)
@given(st.floats(1e-7, 1e-2), st.floats(1.0, 3.0), st.lists(st.floats(0.98, 1.02), min_size=1, max_size=8))
def test_improvement_and_regression_mirror_each_other(seconds, ratio, spread):
    """What holds for a slowdown holds for the inverse speed-up."""
    mirror = {Kind.REGRESSION: Kind.IMPROVEMENT}
    centre = math.exp(sum(map(math.log, spread)) / len(spread))
    baseline = [run(seconds * s) for s in spread]
    slower, faster = (held(run(seconds * centre * r), baseline) for r in (ratio, 1 / ratio))
    edge = min(abs(x) for x in (slower.change.low - 1, slower.change.low - 1.005, slower.change.ratio - 1.005))
    assume(edge > 1e-9)
    assert faster.kind is mirror.get(slower.kind, slower.kind)


@settings(deadline=None)
@given(st.floats(1.0, 3.0), st.floats(1.0, 3.0), st.integers(1, 8))
def test_a_larger_slowdown_is_never_judged_more_kindly(a, b, campaigns):
    """Same, unresolved, regression, in this order."""
    order = [Kind.SAME, Kind.UNRESOLVED, Kind.REGRESSION]
    low, high = (held(run(1e-3 * r), [run(1e-3)] * campaigns).kind for r in sorted((a, b)))
    assert order.index(low) <= order.index(high)


@pytest.mark.parametrize("kind", Kind)
def test_what_storing_a_run_accepts(kind):
    """A changed kernel, under whatever failing name; never what the machine, the noise or a library did."""
    slower, within = Change(1.1, 1.05, 1.15, 0.1), Change(1.0, 0.95, 1.05, 0.1)
    innocent = {Kind.ENVIRONMENT, Kind.INVALID, Kind.UNRESOLVED, Kind.SAME, Kind.INFORMATION}
    assert accepted(Verdict(kind, Reason.SLOWER, "", slower)) == (kind not in innocent)
    assert not accepted(Verdict(kind, Reason.SLOWER, "", within))
    assert not accepted(Verdict(kind, Reason.SLOWER, ""))


CHANGE = Change(1.02, 1.01, 1.03, 0.01)


@pytest.mark.parametrize(
    ("before", "outcome", "kind", "reason"),
    [
        (Kind.REGRESSION, Outcome.SLOWER, Kind.REGRESSION, Reason.SLOWER),
        (Kind.UNRESOLVED, Outcome.SLOWER, Kind.REGRESSION, Reason.SLOWER),
        (Kind.NEW, Outcome.FASTER, Kind.IMPROVEMENT, Reason.FASTER),
        (Kind.UNRESOLVED, Outcome.SAME, Kind.SAME, Reason.WITHIN_SPREAD),
        (Kind.REGRESSION, Outcome.SAME, Kind.ENVIRONMENT, Reason.OLD_SLOWER_TOO),
        (Kind.REGRESSION, Outcome.UNDECIDED, Kind.UNRESOLVED, Reason.BORDERLINE),
    ],
)
def test_a_retest_settles_what_the_baseline_could_not(before, outcome, kind, reason):
    """The pair decides; a case that is as slow with its old kernel blames the environment."""
    found = settle(Verdict(before, Reason.SLOWER, "+2 %", campaigns=5), Decision(outcome, CHANGE, 4), "main")
    assert (found.kind, found.reason, found.campaigns, found.suspect) == (kind, reason, 5, False)
    assert found.sentence.startswith("+2.0 % (+1.0 to +3.0) against main, in turn in 4 processes")


@settings(deadline=None)
@given(st.floats(0.5, 2), st.integers(1, 8))
def test_a_baseline_of_fewer_than_five_campaigns_is_provisional(ratio, count):
    """However clear the result, it says on how little it rests."""
    assert held(run(1e-3 * ratio), [run(1e-3)] * count).provisional == (count < 5)
