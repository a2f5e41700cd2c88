"""Numbers as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.reports import units
from pytest_roofline.runs import Comparison


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(48.61e-6, "48.61 us"), (1.2e-9, "1.200 ns"), (7.3651e-3, "7.365 ms"), (12.0, "12.00 s"), (250.06e-6, "250.1 us")],
)
def test_times_have_four_digits_and_their_unit(seconds, text):
    """Zeros that say how exact a figure is are not lost."""
    assert units.time(seconds) == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(0.5, "50%"), (0.0312, "3.1%"), (0.0997, "10%"), (1.09, "109%"), (1e-5, "<0.1%"), (None, "-")],
)
def test_shares_are_percent(fraction, text):
    """Small ones keep a decimal."""
    assert units.share(fraction) == text


@given(st.floats(-1, 3), st.integers(1, 30))
def test_bars_fill_their_columns(fraction, width):
    """Never longer or shorter, whatever the share, and of one character where they must be plain."""
    assert len(units.bar(fraction, width)) == width
    assert set(units.bar(fraction, width, plain=True)) <= {"#", "."}
    assert len(units.bar(fraction, width, plain=True)) == width


def test_bars_grow_with_the_share():
    """From empty to full in eighths of a column."""
    assert [units.bar(x / 8, 1) for x in range(9)] == list(" ▏▎▍▌▋▊▉█")
    assert units.bar(0.5, 4) == "██  "


def test_changes_are_told_with_their_interval():
    """Short for a column, in full for a sentence, and not at all without a comparison."""
    found = Comparison("baseline", "regression", "", "", 1.158, 1.12, 1.20)
    assert units.delta(found) == "+15.8±4.0%"
    assert units.delta(found, plain=True).isascii()
    assert units.interval(found) == "+15.8 % (+12.0 to +20.0)"
    assert units.delta(None) == units.delta(Comparison("baseline", "new", "", "")) == ""


def test_ratios_keep_three_digits():
    """Also where a library routine takes a hundred times as long."""
    assert [units.ratio(x) for x in (0.0012, 0.994, 1.0, 12.345, 109.7)] == ["0.001", "0.99", "1.00", "12.3", "110"]
    assert units.ratio(None) == "-"
