"""How a case is timed follows from its length and the effort, by plain numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.timing.plan import BESIDE, BRACKET_SECONDS, MAX_LAUNCHES, copies, plan

seconds = st.floats(1e-7, 1.0)
efforts = st.sampled_from(["quick", "default", "full"])


@given(seconds, efforts)
def test_a_bracket_is_long_enough_to_be_measured(estimate, effort):
    """At least 200 us, unless that many launches would not fit into a graph."""
    launches = plan(estimate, effort).launches
    assert launches * estimate >= BRACKET_SECONDS * 0.999 or launches == MAX_LAUNCHES
    assert launches == 1 or (launches - 1) * estimate < BRACKET_SECONDS


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [(1.1e-6, (182, 100)), (1e-4, (2, 100)), (2e-3, (1, 100)), (1e-2, (1, 24)), (0.1, (1, 5))],
)
def test_default_effort(estimate, expected):
    """100 brackets up to 2 ms, 24 at 10 ms, never fewer than five."""
    found = plan(estimate, "default")
    assert (found.launches, found.brackets) == expected


@given(st.floats(1e-7, 0.03))
def test_a_plain_pass_takes_at_most_four_tenths_of_a_second(estimate):
    """Warm-ups, brackets and all else that executes a kernel of up to 30 ms."""
    found = plan(estimate, "default")
    brackets = (found.warm_ups + found.brackets) * max(found.launches * estimate, 200e-6)
    assert brackets + BESIDE * estimate <= 0.4


@given(seconds)
def test_more_effort_never_takes_fewer_brackets(estimate):
    """quick, default, full is an order."""
    found = [plan(estimate, effort).brackets for effort in ("quick", "default", "full")]
    assert found == sorted(found)


@given(st.integers(1, 10**9), st.integers(1, 512))
def test_no_launch_finds_its_data_in_l2(footprint, launches):
    """Either each launch of a bracket has a set of its own, or twice L2 passes before a set comes back."""
    l2 = 60 << 20
    wanted = copies(footprint, l2, launches, free_bytes=1 << 40)
    assert wanted == launches or wanted * footprint >= 2 * l2
    assert 1 <= wanted <= launches or footprint >= 2 * l2


def test_copies_leave_half_of_the_memory():
    """A large problem on a full GPU gets fewer copies, but always one."""
    assert copies(100, 1000, 500, free_bytes=1000) == 5
    assert copies(100, 1000, 500, free_bytes=10) == 1
    assert copies(0, 1000, 500, free_bytes=10) == 1


@given(seconds, efforts)
def test_the_case_itself_warms_the_gpu_up(estimate, effort):
    """At least 50 ms of it, and no more than one bracket beyond."""
    found = plan(estimate, effort)
    bracket = found.launches * estimate
    assert found.warm_ups * max(bracket, BRACKET_SECONDS) >= 0.05
    assert (found.warm_ups - 1) * bracket < 0.05
