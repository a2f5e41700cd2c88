"""When a retest in pairs stops, and what it says."""

import math
import random
import statistics

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_roofline.statistics.noise import Prior
from pytest_roofline.statistics.paired import LOOKS, Outcome, decide, of_process, precise, prior_of, target

QUIET = Prior(1.0, 20.0, 100)  # 0.1 % between processes for kernels from 20 us on
LONG = 1e-4
noises = st.lists(st.floats(-0.002, 0.002), min_size=4, max_size=16)


def around(centre, count, spread=0.0005):
    """Differences that alternate about a mean."""
    return [centre + spread * (-1) ** k for k in range(count)]


@pytest.mark.parametrize(
    ("slowdown", "count", "outcome"),
    [
        (0.0, 4, Outcome.SAME),
        (0.01, 4, Outcome.SLOWER),
        (0.01, 8, Outcome.SLOWER),
        (-0.01, 4, Outcome.FASTER),
        (0.03, 4, Outcome.SLOWER),
    ],
)
def test_a_quiet_pair(slowdown, count, outcome):
    """One percent is found at the first look."""
    assert decide(LONG, around(math.log1p(slowdown), count), QUIET).outcome is outcome


def test_what_the_interval_does_not_tell_needs_more_processes():
    """0.8 % in noisy pairs: neither clearly more than 0.5 % nor clearly less than 1 %."""
    assert decide(LONG, around(0.008, 4, 0.003), QUIET).outcome is Outcome.UNDECIDED
    assert decide(LONG, around(0.008, 4, 0.0003), QUIET).outcome is not Outcome.UNDECIDED


@pytest.mark.parametrize("count", [2, 3])
def test_nothing_is_decided_before_the_first_look(count):
    """However clear it seems."""
    assert decide(LONG, [0.5] * count, QUIET).outcome is Outcome.UNDECIDED
    assert LOOKS[0] == 4


@pytest.mark.parametrize("differences", [[], [0.1], [0.1, math.nan, 0.1, 0.1], [math.inf] * 4])
def test_no_decision_from_nonsense_or_a_single_process(differences):
    """An error, never a verdict."""
    with pytest.raises(ValueError, match="two processes and finite"):
        decide(LONG, differences, QUIET)


@pytest.mark.parametrize("blocks", [[], [math.nan, 0.0]])
def test_no_number_of_a_process_from_nonsense(blocks):
    """An error as well."""
    with pytest.raises(ValueError, match="at least one block"):
        of_process(blocks)


def test_outlying_blocks_do_not_move_a_process():
    """A fifth at each end is left out."""
    assert of_process([0.001] * 8 + [5.0, -5.0]) == pytest.approx(0.001)


def test_blocks_that_scatter_are_not_precise():
    """Ten blocks of 0.2 % show 1 % well enough, of 0.5 % it takes eighty. Outliers count as others do."""
    assert precise(around(0.0, 10, 0.002), LONG)
    assert not precise(around(0.0, 10, 0.005), LONG)
    assert precise(around(0.0, 80, 0.005), LONG)
    assert precise([*around(0.0, 10, 0.001), 0.5, -0.5], LONG)
    assert precise(around(0.0, 10, 0.004), 10e-6), "2 % are to be found there"


def test_a_single_block_is_not_precise():
    """Nor is none."""
    assert not precise([0.0], LONG)
    assert not precise([], LONG)


@given(noises, st.floats(-0.1, 0.1))
def test_whether_blocks_are_precise_does_not_depend_on_what_they_say(noise, by):
    """Mirrored and moved they scatter alike, so that going on favours neither verdict; less noise is never worse."""
    assume(abs(_error(noise) - 0.01 / 8) > 1e-6)
    said = precise(noise, LONG)
    assert precise([-d for d in noise], LONG) is said
    assert precise([d + by for d in noise], LONG) is said
    assert not said or precise([d / 2 for d in noise], LONG)


def _error(noise):
    """The standard error of the trimmed mean, from its definition."""
    ordered, cut = sorted(noise), len(noise) // 5
    pulled = [min(max(d, ordered[cut]), ordered[-1 - cut]) for d in noise]
    return statistics.stdev(pulled) / ((1 - 2 * cut / len(noise)) * math.sqrt(len(noise)))


@given(noises, st.floats(1e-7, 1e-2))
def test_faster_is_the_mirror_image_of_slower(noise, seconds):
    """Swapping old and new swaps the verdicts."""
    mirror = {Outcome.SLOWER: Outcome.FASTER, Outcome.FASTER: Outcome.SLOWER}
    a, b = decide(seconds, noise, QUIET), decide(seconds, [-d for d in noise], QUIET)
    assert b.outcome is mirror.get(a.outcome, a.outcome)
    assert (a.change.low, a.change.high) == pytest.approx((1 / b.change.high, 1 / b.change.low))


@given(noises, st.floats(0, 0.1), st.floats(0, 0.1))
def test_a_larger_slowdown_is_never_judged_more_kindly(noise, a, b):
    """Same, undecided, slower, in this order."""
    order = [Outcome.FASTER, Outcome.SAME, Outcome.UNDECIDED, Outcome.SLOWER]
    low, high = (decide(LONG, [d + s for d in noise], QUIET).outcome for s in sorted((a, b)))
    assume(Outcome.FASTER not in (low, high))
    assert order.index(low) <= order.index(high)


@given(noises, st.floats(20e-6, 1.0), st.floats(20e-6, 1.0))
def test_above_twenty_microseconds_the_time_does_not_matter(noise, a, b):
    """Only the ratio does."""
    first, second = decide(a, noise, QUIET), decide(b, noise, QUIET)
    assert (first.outcome, first.change) == (second.outcome, second.change)


def test_calibration_tells_what_a_few_pairs_cannot():
    """A case that is known to scatter by 2 % between processes is not called slower for 1.2 % in four quiet ones."""
    known = [0.02 * (-1) ** k for k in range(16)]
    assert decide(LONG, around(0.012, 4), QUIET, known).outcome is Outcome.UNDECIDED
    assert decide(LONG, around(0.012, 4), QUIET).outcome is Outcome.SLOWER


@pytest.mark.parametrize(("seconds", "expected"), [(1e-3, 0.01), (20e-6, 0.01), (10e-6, 0.02), (4e-6, 0.05)])
def test_what_is_to_be_found(seconds, expected):
    """1 % from 20 us on, 2 % from 5 us, 5 % below."""
    assert target(seconds) == expected


def test_a_prior_from_many_pairs():
    """Cases with a quarter of the stated standard deviation give a sixteenth of its variance."""
    rng = random.Random(3)
    pairs = [(0.001, [rng.gauss(0, 0.00025) for _ in range(8)]) for _ in range(400)]
    assert prior_of(pairs).scale == pytest.approx(1 / 16, rel=0.1)


def test_power_limited_pairs_are_trusted_less():
    """Two versions that share a changing clock differ by more between processes than a calibrated stream."""
    plain, limited = (decide(LONG, around(0.008, 4), QUIET, power_limited=flag) for flag in (False, True))
    assert plain.outcome is Outcome.SLOWER
    assert limited.outcome is Outcome.UNDECIDED
