"""The plot in the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.history.plot import plot
from pytest_roofline.reports.styled import BAD, texts


def test_values_are_placed_by_size_and_changes_are_marked():
    """Larger is higher; the mark stands below the column of its run."""
    lines = plot([1e-6, 1e-6, 2e-6, 2e-6], [(2, 2.0)], "us", scale=1e-6, width=40, height=5, plain=True)
    rows = texts(lines)
    assert rows[0].strip() == "us"
    assert rows[1].endswith("|  **") or rows[2].endswith("|  **")
    assert rows[5].endswith("|**") or rows[4].endswith("|**")
    assert rows[-1].index("^") == rows[1].index("|") + 1 + 2 if "|" in rows[1] else True
    assert any(segment.style == BAD and segment.text == "^" for segment in lines[-1])


@given(st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=300), st.integers(20, 120))
def test_it_never_leaves_its_width(values, width):
    """One dot per column, whatever the number of runs; plain is ASCII."""
    lines = texts(plot(values, [], "us", width=width, plain=True))
    assert all(len(line) <= width for line in lines)
    assert all(line.isascii() for line in lines)
    assert sum(line.count("*") for line in lines) == min(len(values), width - 12)


@pytest.mark.parametrize("values", [[5.0], [5.0, 5.0], [0.0, 0.0]])
def test_a_flat_line_is_drawn(values):
    """No division by a range of nothing."""
    assert sum(line.count("*") for line in texts(plot(values, [], "", plain=True))) == len(values)
