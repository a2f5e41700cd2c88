"""A run against stored campaigns: intervals, the shift of a whole campaign, and what neither may do."""

import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_roofline.statistics import MINIMAL, Summary, alarm
from pytest_roofline.statistics.likeness import STRANGE
from pytest_roofline.statistics.screen import (
    CAMPAIGN_SHIFT,
    History,
    Shift,
    compare_run,
    history,
    shift,
    tail_of,
)

NO_SHIFT = Shift(usual=1e-9)


def run(seconds, power_limited=False):
    """A stored run of that typical time."""
    return Summary(math.log(seconds), (seconds,) * 5, 100, power_limited)


def stored(times):
    """Campaigns c0, c1, ... with those times."""
    return {f"c{k}": run(seconds) for k, seconds in enumerate(times)}


def alone(current, times):
    """The change of a case that is the only one of its suite."""
    runs = stored(times)
    return compare_run("a", run(current), runs, history({"a": runs}), NO_SHIFT)


def suite(noise=0.002, campaigns=5, cases=60, shifts=None, seed=0):
    """Campaigns of a quiet suite: 100 us, 103 us, ... with that noise."""
    rng = random.Random(seed)
    shifts = shifts or [0.0] * campaigns
    return {
        f"case{i}": {
            f"c{k}": run((100e-6 + 3e-6 * i) * math.exp(rng.gauss(0, noise) + shifts[k])) for k in range(campaigns)
        }
        for i in range(cases)
    }


spreads = st.lists(st.floats(0.99, 1.01), min_size=1, max_size=8)


@given(st.floats(1e-3, 1e-1), spreads, st.floats(0.5, 2.0), st.floats(0.1, 10))
def test_a_change_does_not_depend_on_the_scale(seconds, values, ratio, factor):
    """Ratio and interval of kernels above 50 us stay the same when everything takes longer."""
    assume(seconds * factor > 1e-4)
    a = alone(seconds * ratio, [seconds * s for s in values])
    b = alone(seconds * ratio * factor, [seconds * s * factor for s in values])
    assert (a.ratio, a.low, a.high) == pytest.approx((b.ratio, b.low, b.high))


@given(st.floats(0.5, 2.0), st.integers(1, 6))
def test_slower_and_faster_are_mirror_images(ratio, count):
    """The interval of 1/r is the inverse of that of r, so improvement and regression are judged alike."""
    up, down = alone(1e-3 * ratio, [1e-3] * count), alone(1e-3 / ratio, [1e-3] * count)
    assert (up.low, up.high) == pytest.approx((1 / down.high, 1 / down.low))


@given(st.floats(1, 2), st.floats(1, 2))
def test_a_larger_slowdown_has_a_larger_lower_end(a, b):
    """The evidence grows with the slowdown."""
    low, high = sorted((a, b))
    values = [1e-3 * s for s in (0.999, 1, 1.001)]
    assert alone(1e-3 * low, values).low <= alone(1e-3 * high, values).low


def test_more_campaigns_narrow_the_interval():
    """Each adds certainty."""
    widths = [alone(1e-3, [1e-3] * k).detectable for k in (1, 2, 3, 5, 10)]
    assert widths == sorted(widths, reverse=True)


def test_a_case_that_scatters_gets_a_wide_interval_even_in_a_quiet_suite():
    """Moderation takes over the variance of the others, not instead of the case's own."""
    stored_suite = suite()
    stored_suite["wild"] = stored([1e-3 * s for s in (0.9, 1.1, 0.95, 1.05, 1.0)])
    spreads = history(stored_suite).likeness.spreads
    assert spreads["wild"].variance > 20 * spreads["case0"].variance


def test_a_quiet_suite_sees_little():
    """With five campaigns of 0.2 % noise a slowdown of 5 % shows in 99 % of runs for two kernels in three, from the
    stored baseline alone and with 400 changed; those that scattered most by chance need a little more."""
    stored_suite = suite()
    past = history(stored_suite)
    moved = Shift(0.0, 1e-3, 60, 1e-3)
    found = [
        compare_run(case, run(math.exp(past.levels[case])), runs, past, moved).detectable
        for case, runs in stored_suite.items()
    ]
    assert sum(one < 0.05 for one in found) >= 40
    assert max(found) < 0.12
    assert past.prior.cases == 60


@pytest.mark.parametrize("campaigns", [2, 3])
def test_few_campaigns_do_not_say_how_little_starts_differ(campaigns):
    """They may be cards of one start: however alike they are, 2 % on another start are no regression."""
    stored_suite = suite(noise=1e-5, campaigns=campaigns)
    past = history(stored_suite)
    current = {case: run(math.exp(level)) for case, level in past.levels.items()}
    slower = run(current["case0"].seconds * 1.02)
    assert compare_run("case0", slower, stored_suite["case0"], past, shift(current, past)).low < 1 + MINIMAL


@pytest.mark.parametrize("cases", [10, 29, 60])
def test_campaigns_of_one_start_do_not_say_how_little_starts_differ(cases):
    """Eight cards of one start that are as good as equal: 2 % on another start are no regression, in small suites as in
    large ones. On eight starts they would be one."""
    stored_suite = suite(noise=2e-4, campaigns=8, cases=cases)
    current = {case: run(runs["c0"].seconds) for case, runs in stored_suite.items()}
    slower = run(current["case0"].seconds * 1.02)
    one, eight = history(stored_suite, dict.fromkeys(stored_suite["case0"], "start")), history(stored_suite)
    lows = [
        compare_run("case0", slower, stored_suite["case0"], past, shift(current, past)).low for past in (one, eight)
    ]
    assert lows[0] < 1 < 1 + MINIMAL < lows[1]
    assert one.usual_shift == CAMPAIGN_SHIFT


def test_power_limited_runs_are_trusted_less():
    """Their clocks differ between starts of the machine."""
    for count in (1, 2, 5):
        limited = {f"c{k}": run(1e-3, power_limited=True) for k in range(count)}
        found = compare_run("a", run(1e-3), limited, history({"a": limited}), NO_SHIFT)
        assert found.detectable > alone(1e-3, [1e-3] * count).detectable


@given(st.floats(1e-7, 1e-2), spreads)
def test_a_detectable_slowdown_shows_even_if_measured_low(seconds, values):
    """A kernel slower by ``detectable``, measured low by as much as happens once in 100 runs, still exceeds MINIMAL."""
    times = [seconds * s for s in values]
    found = alone(seconds, times)
    half = math.log(found.high / found.ratio)
    miss = math.log((1 + found.detectable) / (1 + MINIMAL)) - half
    centre = seconds / found.ratio
    measured = alone(centre * (1 + found.detectable) * math.exp(-miss), times)
    assert measured.low == pytest.approx(1 + MINIMAL)


@given(st.floats(1e-7, 1e-2), spreads, st.floats(0.9, 1.1))
def test_what_is_excluded_lies_within_the_interval(seconds, values, ratio):
    """One chance in 4000 is less sure than one in 40,000."""
    found = alone(seconds * ratio, [seconds * s for s in values])
    assert found.ratio < 1 + found.excluded < found.high


def test_without_a_baseline_there_is_no_change():
    """An empty baseline is an error, not a ratio."""
    with pytest.raises(ValueError, match="no baseline"):
        compare_run("a", run(1e-3), {}, History(), NO_SHIFT)


def test_the_shift_of_each_stored_campaign_is_taken_out():
    """Campaigns 1 % apart as a whole leave the cases as quiet as they are."""
    past = history(suite(shifts=[0.01, -0.01, 0.0, 0.005, -0.005]))
    assert [round(past.shifts[f"c{k}"], 3) for k in range(5)] == [0.01, -0.01, 0.0, 0.005, -0.005]
    assert math.sqrt(past.prior.scale) * 0.01 == pytest.approx(0.002, rel=0.2)
    assert past.usual_shift == pytest.approx(0.0079, rel=0.1)


def test_levels_are_means_however_skewed_the_cases_scatter():
    """A third of the cases of each campaign is slow: no campaign stands out, and no level drifts away."""
    turns = [[1.0, 1.0, 1.016][k:] + [1.0, 1.0, 1.016][:k] for k in (0, 1, 2)]
    skewed = {f"case{i}": stored([1e-4 * s for s in turns[i % 3]]) for i in range(30)}
    past = history(skewed)
    assert past.levels["case0"] == pytest.approx(math.log(1e-4) + math.log(1.016) / 3)
    assert list(past.shifts.values()) == [pytest.approx(0.0, abs=1e-12)] * 3


@given(st.floats(-0.05, 0.05))
def test_a_shift_of_the_whole_run_is_found_and_told(moved):
    """It is taken out of the cases, and remarkable from 1 % on, so that it cannot hide there."""
    stored_suite = suite(campaigns=4)
    past = history(stored_suite)
    current = {c: run(math.exp(level + moved)) for c, level in past.levels.items()}
    found = shift(current, past)
    assert found.seen == pytest.approx(moved, abs=1e-3)
    assume(abs(abs(moved) - 0.01) > 1e-4)
    assert found.remarkable == (abs(moved) > 0.01)


def test_one_slow_case_is_no_shift():
    """The median does not move with it, and its own change stays."""
    stored_suite = suite()
    past = history(stored_suite)
    current = {c: run(math.exp(level)) for c, level in past.levels.items()}
    current["case0"] = run(math.exp(past.levels["case0"] + 0.1))
    found = compare_run("case0", current["case0"], stored_suite["case0"], past, shift(current, past))
    assert found.ratio == pytest.approx(math.exp(0.1), abs=1e-3)


def test_a_lone_case_does_not_say_what_the_others_did():
    """A run of one or two cases knows no shift; what campaigns usually have in common widens its interval."""
    stored_suite = suite()
    past = history(stored_suite)
    one = {"case0": run(math.exp(past.levels["case0"]))}
    none = shift(one, past)
    assert (none.mean, none.remarkable) == (0.0, False)
    assert math.sqrt(none.variance) == pytest.approx(past.usual_shift)
    all_of_them = shift({c: run(math.exp(level)) for c, level in past.levels.items()}, past)
    wide, narrow = (compare_run("case0", one["case0"], stored_suite["case0"], past, s) for s in (none, all_of_them))
    assert wide.high > narrow.high


def test_the_stated_shift_holds_until_five_campaigns_tell():
    """Two starts of a machine say little about the third."""
    assert history(suite(campaigns=4)).usual_shift == CAMPAIGN_SHIFT
    assert history(suite(campaigns=5)).usual_shift < CAMPAIGN_SHIFT


def at_the_limit(factor=1.0, clock=1500.0):
    """A run of a product at that clock: it takes as many cycles on every card, times ``factor``."""
    seconds = 1e-3 * factor * 1500.0 / clock
    return Summary(math.log(seconds), (seconds,) * 5, 100, True, clock)


def with_products(clocks=(1440.0, 1480.0, 1500.0, 1520.0, 1560.0)):
    """A quiet suite at 1970 MHz, and products that the power limit holds down to another clock in each campaign."""
    found = {
        case: {name: Summary(one.log_mean, one.quantiles, 100, False, 1970.0) for name, one in runs.items()}
        for case, runs in suite().items()
    }
    rng = random.Random(1)
    for k in range(10):
        found[f"product{k}"] = {f"c{i}": at_the_limit(math.exp(rng.gauss(0, 0.002)), c) for i, c in enumerate(clocks)}
    return found


def test_what_the_power_limit_holds_down_is_compared_in_cycles():
    """Cards that reach other clocks do not make it noisy: 5 % are found, at any clock, and no clock is a slowdown."""
    runs = with_products()
    past = history(runs)
    assert past.cycles == {f"product{k}" for k in range(10)}
    for clock in (1430.0, 1500.0, 1570.0):
        same, slower = (
            compare_run("product0", at_the_limit(factor, clock), runs["product0"], past, NO_SHIFT)
            for factor in (1.0, 1.05)
        )
        assert slower.ratio / same.ratio == pytest.approx(1.05)
        assert slower.low > 1 + MINIMAL
        assert same.low < 1 < same.high


def test_a_run_without_a_clock_is_compared_in_seconds():
    """Then the cards' clocks are part of the noise."""
    runs = with_products()
    past = history(runs)
    seconds = Summary(math.log(1.05e-3), (1.05e-3,) * 5, 100, True)
    found = compare_run("product0", seconds, runs["product0"], past, NO_SHIFT)
    assert found.ratio == pytest.approx(1.05, rel=0.01)
    assert found.low < 1 + MINIMAL


def test_the_shift_of_a_run_mixes_no_units():
    """Seconds and cycles each move by what they have moved."""
    runs = with_products()
    past = history(runs)
    current = {"product0": at_the_limit(1.02, 1600.0), "product1": at_the_limit(1.02, 1400.0)}
    current |= {f"case{i}": Summary(past.levels[f"case{i}"] + 0.02, (1e-4,) * 5, 4, False, 1970.0) for i in range(9)}
    assert shift(current, past).seen == pytest.approx(0.02, abs=0.002)


def kinds(cards, seed=3):
    """Campaigns on cards of two kinds: a third of the kernels takes 3 % longer on those of the second."""
    rng = random.Random(seed)
    return {
        f"case{i}": {
            f"c{k}": run(1e-4 * math.exp(rng.gauss(0, 0.001) + (0.03 if kind and i % 3 == 0 else 0.0)))
            for k, kind in enumerate(cards)
        }
        for i in range(90)
    }


@pytest.mark.parametrize("kind", [0, 1])
def test_a_run_is_held_against_campaigns_of_its_own_kind(kind):
    """A kernel that differs by 3 % between two kinds of cards is no regression on either, and 2 % more is one where few
    kernels have changed."""
    stored_suite = kinds([0, 0, 0, 1, 1, 1])
    past = history(stored_suite)
    current = {case: runs["c9"] for case, runs in kinds([kind] * 10, seed=4).items()}
    moved = shift(current, past)
    assert moved.strange < 2
    found = compare_run("case0", current["case0"], stored_suite["case0"], past, moved)
    assert found.ratio == pytest.approx(1.0, abs=0.005)
    slower = run(current["case0"].seconds * 1.02)
    assert compare_run("case0", slower, stored_suite["case0"], past, moved, alarm(10)).low > 1 + MINIMAL


def test_a_card_of_a_new_kind_is_strange_and_widens_the_intervals():
    """Nothing like it is stored: what it does differently is no regression."""
    stored_suite = kinds([0] * 6)
    past = history(stored_suite)
    known, new = ({case: runs["c9"] for case, runs in kinds([kind] * 10, seed=4).items()} for kind in (0, 1))
    usual, strange = shift(known, past), shift(new, past)
    assert usual.strange < 2 < STRANGE < strange.strange
    narrow, wide = (compare_run("case1", known["case1"], stored_suite["case1"], past, m) for m in (usual, strange))
    assert wide.high / wide.low > narrow.high / narrow.low


def test_kernels_that_became_slower_make_no_card_strange_where_enough_are_unchanged():
    """Half of them by a fifth: the kernels whose code is the stored one tell which cards this one is like."""
    stored_suite = kinds([0] * 6)
    past = history(stored_suite)
    current = {case: runs["c9"] for case, runs in kinds([0] * 10, seed=4).items()}
    changed = [f"case{i}" for i in range(40)]
    current |= {case: run(current[case].seconds * 1.2) for case in changed}
    assert shift(current, past).strange > STRANGE
    assert shift(current, past, set(current) - set(changed)).strange < 2


def slowed_suite(count, unchanged):
    """A run of a quiet suite whose first ``count`` kernels take a half longer, where the code of so many is old."""
    stored_suite = suite()
    past = history(stored_suite)
    names = list(stored_suite)
    current = {c: run(math.exp(past.levels[c]) * (1.5 if i < count else 1)) for i, c in enumerate(names)}
    return stored_suite, past, current, shift(current, past, names[len(names) - unchanged :])


def test_unchanged_code_tells_how_far_the_machine_has_moved():
    """Most kernels became slower with new code: the others have not moved, so nothing is taken out."""
    stored_suite, past, current, moved = slowed_suite(40, unchanged=20)
    assert moved.anchored
    assert not moved.remarkable
    assert compare_run("case0", current["case0"], stored_suite["case0"], past, moved).low > 1.4


def test_a_shift_of_unchanged_code_is_the_machines():
    """All became slower, and so did those whose code is the stored one: told and taken out."""
    *_, moved = slowed_suite(60, unchanged=16)
    assert moved.anchored
    assert moved.remarkable
    assert moved.unexplained == 0
    assert moved.mean == pytest.approx(math.log(1.5), rel=0.01)


@pytest.mark.parametrize("unchanged", [0, 15])
def test_a_shift_that_the_code_may_have_made_is_not_explained(unchanged):
    """Too few cases of old code: what is taken out of every case is told to whoever judges."""
    *_, moved = slowed_suite(60, unchanged)
    assert not moved.anchored
    assert moved.unexplained == moved.mean == pytest.approx(math.log(1.5), rel=0.01)


@pytest.mark.parametrize(("chance", "tail"), [(2.5e-5, 1.5625e-8), (1e-4, 1e-6), (1e-3, 1e-3), (2e-3, 2e-3)])
def test_a_rarer_alarm_leaves_a_far_smaller_tail(chance, tail):
    """Starts have heavier tails than Student's: below one in a thousand the tail falls with the cube of the chance."""
    assert tail_of(chance) == pytest.approx(tail)
