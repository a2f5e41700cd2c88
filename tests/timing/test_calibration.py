"""The gap of a kernel is interpolated from those of other kernels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.timing.calibration import Gap, gap_at

POINTS = [Gap("a", 1e-6, 1e-7), Gap("b", 1e-6, 3e-7), Gap("c", 4e-6, 4e-7), Gap("d", 4e-6, 4e-7)]


@pytest.mark.parametrize(("seconds", "gap"), [(1e-7, 2e-7), (1e-6, 2e-7), (2e-6, 3e-7), (4e-6, 4e-7), (1.0, 4e-7)])
def test_gaps_are_linear_in_the_logarithm_and_constant_outside(seconds, gap):
    """Kernels of one duration count with their mean."""
    assert gap_at(seconds, POINTS) == pytest.approx(gap)


def test_without_calibration_there_is_no_gap():
    """Where CUPTI records nothing, nothing is subtracted."""
    assert gap_at(1e-6, []) == 0


@given(st.floats(1e-8, 1.0), st.permutations(POINTS))
def test_a_gap_lies_between_the_measured_ones(seconds, points):
    """Interpolation never leaves what was measured, in whatever order it came."""
    assert 1e-7 <= gap_at(seconds, points) <= 4e-7
