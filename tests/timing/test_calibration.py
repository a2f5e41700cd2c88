"""What a bracket holds beside the kernel is found on other kernels, and taken apart by how often it occurs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.timing.calibration import Comparison, Overhead, ends, overhead

times = st.floats(1e-8, 1e-3)
kernels = st.lists(st.tuples(times, st.integers(1, 512)), min_size=1, max_size=9)


@given(times, times, st.integers(2, 512))
def test_the_ends_are_what_does_not_grow_with_the_launches(outside, per_launch, launches):
    """Brackets that follow the model give its constant back."""
    found = ends(outside + per_launch, outside + launches * per_launch, launches)
    assert found == pytest.approx(outside, abs=1e-9 * (outside + launches * per_launch))


@given(times, st.floats(-1e-6, 1e-6), st.floats(-1e-6, 1e-6), kernels, kernels)
def test_node_and_step_are_what_cupti_does_not_see(outside, node, step, singles, pairs):
    """Kernels of any duration in brackets of any length give the model's figures back, negative ones as well."""
    found = overhead(
        outside,
        [Comparison("k", alone + node + outside / n, n, alone, 0) for alone, n in singles]
        + [Comparison("pair", alone + step + node + outside / n, n, alone, 1) for alone, n in pairs],
    )
    assert found.node == pytest.approx(node, abs=1e-12)
    assert found.step == pytest.approx(step, abs=1e-12)
    assert found.ends == outside


def test_one_disturbed_kernel_does_not_move_the_node():
    """The median ignores it."""
    found = [Comparison("k", 1.1e-6, 100, 1e-6, 0)] * 4 + [Comparison("disturbed", 9e-6, 100, 1e-6, 0)]
    assert overhead(0.0, found).node == pytest.approx(1e-7)


def test_without_cupti_only_the_ends_are_known():
    """Nothing is guessed: node and step are 0, and so is the step where only single kernels were seen."""
    assert overhead(3e-6, []) == Overhead(3e-6, 0.0, 0.0)
    assert overhead(0.0, [Comparison("k", 1.1e-6, 100, 1e-6, 0)]).step == 0


def test_a_long_kernel_bears_the_ends_alone():
    """One launch per bracket carries all of them, two hundred a two-hundredth each."""
    found = Overhead(ends=2e-6, node=1e-7, step=5e-7)
    assert found.gap(1) == pytest.approx(2.1e-6)
    assert found.gap(200) == pytest.approx(1.1e-7)
