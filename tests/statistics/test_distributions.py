"""Quantiles and gamma's derivatives against tables and identities."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.statistics.distributions import (
    digamma,
    student_quantile,
    student_tail,
    trigamma,
    trigamma_inverse,
)


# Abramowitz and Stegun, table 26.10, two-sided 0.01; and 0.0005 one-sided.
@pytest.mark.parametrize(
    ("tail", "degrees", "expected"),
    [
        (0.005, 1, 63.657),
        (0.005, 2, 9.925),
        (0.005, 5, 4.032),
        (0.005, 10, 3.169),
        (0.005, 30, 2.750),
        (0.005, math.inf, 2.576),
        (0.0005, 4, 8.610),
        (0.0005, 20, 3.850),
        (0.025, math.inf, 1.960),
    ],
)
def test_quantiles_of_the_table(tail, degrees, expected):
    """Three decimals, as printed."""
    assert student_quantile(tail, degrees) == pytest.approx(expected, abs=6e-4)


@given(st.floats(1e-6, 0.5), st.floats(0.5, 1e4) | st.just(math.inf))
def test_a_quantile_is_exceeded_as_often_as_asked(tail, degrees):
    """The inverse of the tail, for fractional degrees of freedom as well."""
    assert student_tail(student_quantile(tail, degrees), degrees) == pytest.approx(tail, rel=1e-5)


@given(st.floats(1e-5, 0.4), st.floats(1, 100), st.floats(1, 100))
def test_fewer_degrees_make_wider_intervals(tail, a, b):
    """Less knowledge never gives more certainty."""
    low, high = sorted((a, b))
    assert student_quantile(tail, low) >= student_quantile(tail, high) - 1e-9


@given(st.floats(0.01, 1e3))
def test_recurrences(x):
    """psi(x + 1) = psi(x) + 1/x, psi'(x + 1) = psi'(x) - 1/x^2."""
    assert digamma(x + 1) == pytest.approx(digamma(x) + 1 / x, rel=1e-12, abs=1e-12)
    assert trigamma(x + 1) == pytest.approx(trigamma(x) - 1 / x**2, rel=1e-9, abs=1e-12)


def test_values_at_one():
    """-gamma and pi^2 / 6."""
    assert digamma(1) == pytest.approx(-0.57721566490153286)
    assert trigamma(1) == pytest.approx(math.pi**2 / 6)


@given(st.floats(0.01, 1e4))
def test_trigamma_is_inverted(x):
    """Wherever a fit of variances may need it."""
    assert trigamma_inverse(trigamma(x)) == pytest.approx(x, rel=1e-6)


@pytest.mark.parametrize(("tail", "degrees"), [(0, 3), (0.7, 3), (0.1, 0), (0.1, -1), (0.1, math.nan)])
def test_no_quantile_for_nonsense(tail, degrees):
    """An error, never a number."""
    with pytest.raises(ValueError, match="no quantile"):
        student_quantile(tail, degrees)
