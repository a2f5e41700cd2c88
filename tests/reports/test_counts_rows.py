"""Rows of counted cases in the terminal."""

from __future__ import annotations

from dataclasses import replace

from pytest_roofline.reports import terminal
from pytest_roofline.reports.styled import texts
from tests.runs.made import made_counted


def test_counted_cases_show_counts_and_fit_80_columns():
    """No column of times; what was not compiled is a dash."""
    run = made_counted({"copy/cuda/plain/f32/4096": 123456789, "copy/cuda/other/f32/4096": 8})
    bare = replace(run.cases[1], counted=replace(run.cases[1].counted, kernels=()))
    lines = texts(terminal.section(replace(run, cases=(run.cases[0], bare))))
    assert lines[2].split() == ["f32", "4096", "launches", "sectors", "conflicts", "regs", "spill", "occ", "verdict"]
    assert ["cuda/plain", "1", "123456789", "0", "32", "0", "100%", "same"] in [x.split() for x in lines]
    assert ["cuda/other", "1", "8", "0", "-", "-", "-", "same"] in [x.split() for x in lines]
    assert all(len(x) <= 80 for x in lines)
