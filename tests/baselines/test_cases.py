"""What is stored of cases that the catalogue no longer has is dropped, or moves to their new names."""

from __future__ import annotations

import pytest

from pytest_roofline.baselines import Baseline, cases
from pytest_roofline.baselines.counted import Counted, CountedCase
from pytest_roofline.counting.counts import CaseCounts


def stored(*names: str) -> Baseline:
    """Times, noise and counts of cases, each of a campaign of its own."""
    runs = {name: {f"of {name}": object()} for name in names}
    counted = Counted("sm_80", {name: CountedCase(CaseCounts()) for name in names})
    campaigns = {f"of {name}": object() for name in names}
    return Baseline("h200", "copy", campaigns, dict(runs), counted=counted, noise=dict(runs))


def test_a_pattern_forgets_all_that_it_matches():
    """In every block; what nothing uses any more goes with it, the rest stays."""
    baseline = stored("copy/cuda/a/f32/1", "copy/cuda/a/f16/1", "copy/triton/a/f32/1")
    assert cases.forget(baseline, "copy/cuda/*") == ["copy/cuda/a/f16/1", "copy/cuda/a/f32/1"]
    for block in (baseline.measured, baseline.noise, baseline.counted.cases):
        assert list(block) == ["copy/triton/a/f32/1"]
    assert list(baseline.campaigns) == ["of copy/triton/a/f32/1"]


def test_a_pattern_without_a_match_changes_nothing():
    """Nothing is returned, and nothing is lost."""
    baseline = stored("copy/cuda/a/f32/1")
    assert cases.forget(baseline, "copy/cuda/b/*") == []
    assert list(baseline.measured) == ["copy/cuda/a/f32/1"]


def test_first_parts_are_renamed_whole():
    """A variant takes all its cases along; one whose name only begins alike stays."""
    baseline = stored("copy/cuda/a/f32/1", "copy/cuda/a/f32/2", "copy/cuda/ab/f32/1")
    assert cases.rename(baseline, "copy/cuda/a", "copy/cuda/c") == {
        "copy/cuda/a/f32/1": "copy/cuda/c/f32/1",
        "copy/cuda/a/f32/2": "copy/cuda/c/f32/2",
    }
    assert set(baseline.measured) == {"copy/cuda/c/f32/1", "copy/cuda/c/f32/2", "copy/cuda/ab/f32/1"}
    assert baseline.measured["copy/cuda/c/f32/1"].keys() == {"of copy/cuda/a/f32/1"}


def test_nothing_is_overwritten():
    """A name under which something is stored is refused before anything moves."""
    baseline = stored("copy/cuda/a/f32/1", "copy/cuda/b/f32/1")
    with pytest.raises(ValueError, match="copy/cuda/b/f32/1 is stored already"):
        cases.rename(baseline, "copy/cuda/a", "copy/cuda/b")
    assert set(baseline.measured) == {"copy/cuda/a/f32/1", "copy/cuda/b/f32/1"}
