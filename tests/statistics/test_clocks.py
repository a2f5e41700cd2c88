"""How the times of kernels at the power limit follow their clocks."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.statistics import Summary
from pytest_roofline.statistics.clocks import at_clock, clock_shifted, held_down, share, shares
from pytest_roofline.statistics.screen import Shift, compare_run, history

CLOCKS = (1350.0, 1400.0, 1430.0, 1480.0, 1500.0, 1560.0)
clocks = st.lists(st.floats(1000, 2000), min_size=1, max_size=12)


def run(clock, part=1.0, factor=1.0):
    """A kernel at that clock, of whose time that part goes with it."""
    seconds = 1e-3 * factor * (1500.0 / clock) ** part
    return Summary(math.log(seconds), (seconds,) * 5, 100, True, clock)


def pairs(runs):
    """(ln seconds, ln clock) of runs."""
    return [(one.log_mean, math.log(one.clock_mhz)) for one in runs]


@pytest.mark.parametrize(
    ("clocks", "held"),
    [([1500, 1510, 1490], True), ([1970, 1500, 1965], False), ([1500, None, 1490], False), ([], False)],
)
def test_who_is_held_down(clocks, held):
    """Most campaigns must show a low clock, and all of them one; what is high is what other cases reach."""
    product = {f"c{k}": Summary(0.0, (1.0,) * 5, 3, True, clock) for k, clock in enumerate(clocks)}
    others = {"c0": Summary(0.0, (1.0,) * 5, 3, False, 1980.0)}
    assert held_down({"product": product, "other": others}) == ({"product"} if held else set())


@pytest.mark.parametrize("part", [0.0, 0.4, 0.9, 1.0])
def test_the_share_of_a_time_that_goes_with_the_clock(part):
    """Drawn towards 1 by as much as the clocks leave open."""
    found = share(pairs(run(clock, part) for clock in CLOCKS))
    assert part <= found <= part + 0.07 * (1 - part) + 1e-9


@given(clocks, st.floats(-3, 3), st.floats(0.1, 10))
def test_a_share_is_one_whatever_the_scale(seen, part, factor):
    """Between seconds and cycles, also of a kernel that gets faster at a lower clock; a slower one has the same."""
    found = share(pairs(run(clock, part) for clock in seen))
    assert 0 <= found <= 1
    assert share(pairs(run(clock, part, factor) for clock in seen)) == pytest.approx(found, abs=1e-6)


def test_equal_clocks_say_nothing():
    """Then cycles are compared, as without campaigns."""
    assert share(pairs([run(1500.0), run(1500.0, factor=1.1)])) == 1.0


def test_few_starts_say_nothing():
    """Cards of one start are no starts, and only what is held down has a share."""
    stored = {"product": {f"c{k}": run(clock, 0.5) for k, clock in enumerate(CLOCKS)}}
    assert 0.5 < shares(stored, ["product"], {}, 6)["product"] < 0.6
    assert shares(stored, ["product"], {}, 7) == {}
    assert shares(stored, ["product"], dict.fromkeys(stored["product"], "start"), 2) == {}
    assert shares(stored, [], {}, 1) == {}


def test_a_run_without_a_clock_is_at_none():
    """It cannot be brought to another one."""
    assert at_clock(Summary(0.0, (1.0,) * 5, 100), 0.5) is None
    assert at_clock(run(1400.0), 1.0) == run(1400.0).log_cycles
    assert at_clock(run(1400.0), 0.0) == run(1400.0).log_mean


@given(st.floats(1300, 1600), st.floats(1.0, 1.5), st.floats(1.0, 1.5))
def test_a_slower_kernel_is_slower_at_any_clock(clock, one, other):
    """By what it is slower, and at none of them is an unchanged one called so: half of its time waits for memory."""
    others = {f"case{k}": {f"c{i}": run(1970.0, factor=1 + 1e-4 * (i * k % 5)) for i in range(6)} for k in range(20)}
    stored = others | {"product": {f"c{i}": run(clock, 0.5) for i, clock in enumerate(CLOCKS)}}
    past = history(stored)
    found = [
        compare_run("product", run(clock, 0.5, factor), stored["product"], past, Shift(0.0, 0.0, 20))
        for factor in (1.0, one, one * other)
    ]
    assert found[1].ratio / found[0].ratio == pytest.approx(one)
    assert found[0].low <= found[1].low <= found[2].low
    assert found[0].low < 1 < found[0].high


@pytest.mark.parametrize(
    ("now", "before", "shifted"),
    [
        (1980.0, [1980.0, 1979.0], False),
        (1940.0, [1980.0, 1980.0], True),
        (2020.0, [1980.0], True),
        (1960.0, [1980.0], False),
        (None, [1980.0], False),
        (1500.0, [None], False),
        (1500.0, [], False),
    ],
)
def test_a_shifted_clock(now, before, shifted):
    """More than 1.5 % from the stored one, in either direction; unknown clocks say nothing."""
    assert clock_shifted(now, before) == shifted
