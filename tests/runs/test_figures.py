"""Counted figures by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.runs.figures import NAMES, figures
from tests.runs.made import made_counted


def test_figures_are_totals_and_the_most_demanding_kernel():
    """Sectors add up over launches; registers are those of the kernel that needs most; all names are announced."""
    counted = made_counted({"copy/cuda/plain/f32/8": 160}).cases[0].counted
    second = {**counted.kernels[0], "key": "second", "registers": 64, "spills": 8, "occupancy": 0.5}
    found = figures(replace(counted, kernels=(*counted.kernels, second)))
    assert (found["sectors"], found["ideal_sectors"], found["launches"]) == (160, 40, 1)
    assert (found["bytes_read"], found["bytes_written"]) == (1280, 640)
    assert (found["registers"], found["spills"], found["occupancy"], found["instructions"]) == (64, 8, 0.5, 80)
    assert set(found) == set(NAMES)


def test_what_was_not_compiled_has_no_figures_of_code():
    """Absent, not zero: nobody may take that for no registers."""
    counted = made_counted({"copy/cuda/plain/f32/8": 160}).cases[0].counted
    assert "registers" not in figures(replace(counted, kernels=()))
    assert figures(None) == {}


def test_what_was_only_compiled_has_no_figures_of_memory():
    """No sectors is no measurement of none; launches are those of the code."""
    counted = made_counted({"copy/cuda/plain/f32/8": 160}).cases[0].counted
    plain = {"launches": [], "layout_free": False, "uncounted": True}
    found = figures(replace(counted, counts=plain, launched=("copy", "copy")))
    assert "sectors" not in found
    assert (found["launches"], found["registers"]) == (2, 32)


def test_figures_that_are_no_numbers_are_refused():
    """They come from a file that anybody may have written."""
    counted = made_counted({"copy/cuda/plain/f32/8": 160}).cases[0].counted
    with pytest.raises(ValueError, match="registers is 'many', no number"):
        figures(replace(counted, kernels=({**counted.kernels[0], "registers": "many"},)))
