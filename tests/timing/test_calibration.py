"""What a bracket holds beside the kernel is found on other kernels, and taken apart by how often it occurs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.timing.calibration import Comparison, Overhead, ends, node

times = st.floats(1e-8, 1e-3)


@given(times, times, st.integers(2, 512))
def test_the_ends_are_what_does_not_grow_with_the_launches(outside, per_launch, launches):
    """Brackets that follow the model give its constant back."""
    found = ends(outside + per_launch, outside + launches * per_launch, launches)
    assert found == pytest.approx(outside, abs=1e-9 * (outside + launches * per_launch))


@given(times, times, st.lists(st.tuples(times, st.integers(1, 512)), min_size=1, max_size=9))
def test_the_node_is_what_cupti_does_not_see(outside, step, kernels):
    """Kernels of any duration in brackets of any length give the same step."""
    found = [Comparison("k", alone + step + outside / n, n, alone) for alone, n in kernels]
    assert node(found, outside) == pytest.approx(step, rel=1e-6, abs=1e-9)


def test_one_disturbed_kernel_does_not_move_the_step():
    """The median ignores it."""
    found = [Comparison("k", 1.1e-6, 100, 1e-6)] * 4 + [Comparison("disturbed", 9e-6, 100, 1e-6)]
    assert node(found, 0.0) == pytest.approx(1e-7)


def test_without_cupti_no_step_is_known():
    """Then only the ends are subtracted."""
    assert node([], 3e-6) == 0


def test_a_long_kernel_bears_the_ends_alone():
    """One launch per bracket carries all of them, two hundred a two-hundredth each."""
    overhead = Overhead(ends=2e-6, node=1e-7)
    assert overhead.gap(1) == pytest.approx(2.1e-6)
    assert overhead.gap(200) == pytest.approx(1.1e-7)
