"""The one sentence that says why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.reports import why
from pytest_roofline.reports.diagnosis import Figure, Finding, Status
from tests.runs.made import made_case

SLOW = made_case("sum/cuda/atomic/f32/1024", 1e-3)
SHARE = (Figure("passes lost to bank conflicts", 97.0, "%", "ncu"),)


def finding(claim: str, weight: float) -> Finding:
    return Finding(claim, Status.APPLIES, SHARE, (), weight)


def test_the_strongest_finding_speaks_with_its_figures():
    """Of two findings the heavier one is told."""
    told = why.sentence(SLOW, [finding("diag-3", 0.2), finding("diag-4", 0.9)])
    assert told == "Several lanes of a warp hit different addresses of one bank (passes lost to bank conflicts: 97 %)."


def test_a_note_stands_for_its_figures():
    """A share says more than the two counts behind it."""
    told = why.sentence(SLOW, [replace(finding("diag-4", 0.9), note="94 % of the passes are lost to them")])
    assert told == "Several lanes of a warp hit different addresses of one bank (94 % of the passes are lost to them)."


def test_being_memory_bound_is_told_last():
    """A place on the roofline is no fault: anything else explains more."""
    assert [f.claim for f in why.ranked([finding("diag-2", 1.0), finding("diag-3", 0.1)])] == ["diag-3", "diag-2"]


def test_rows_that_do_not_apply_say_nothing():
    """Neither do those without figures."""
    quiet = [Finding("diag-4", Status.DOES_NOT, SHARE), Finding("diag-5", Status.UNKNOWN)]
    assert why.sentence(SLOW, quiet) == why.UNCOUNTED
    assert why.sentence(replace(SLOW, ncu={"dram_share": 70.0}), quiet) == why.UNEXPLAINED


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (made_case("sum/cuda/two_stage/f32/1024", 11e-6), "At the roof: device memory"),
        (replace(SLOW, regime="overhead"), "shorter than an empty launch"),
        (replace(SLOW, fraction=None), "no roof"),
        (replace(SLOW, outcome="wrong", detail="y[3] is 1, not 2\nmore", times=None), "wrong: y[3] is 1, not 2"),
        (replace(SLOW, times=None), "not timed"),
        (made_case("sum/torch/sum/f32/1024", 1e-3, peer=True), "A library routine"),
    ],
)
def test_each_state_of_a_case_has_its_words(case, words):
    """At the roof, launch-bound, without a roof, wrong, not timed, and not ours."""
    assert words in why.sentence(case, [])
