"""What a run would store, and stored results as a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.baselines import Store
from pytest_roofline.runs.accepting import baselines_of, run_of_baselines
from tests.runs.made import made_counted, made_run

CASE = "copy/cuda/plain/f32/4097"


def test_times_become_a_campaign_and_come_back(tmp_path):
    """Through the file: the same summary, the same environment."""
    run = made_run({CASE: 50e-6, "fma/cuda/plain/f32/8": 20e-6})
    store = Store(tmp_path)
    for baseline in baselines_of(run):
        store.save(baseline)
    back = run_of_baselines(store.load_all("h200"), "stored")
    assert {case.id: case.seconds for case in back.cases} == {case.id: case.seconds for case in run.cases}
    assert back.environment == run.environment
    assert back.device.key == "h200"


def test_counts_are_stored_without_their_places_and_come_back(tmp_path):
    """Sectors, launches and compiled code as they were; source lines move with any edit."""
    run = made_counted({CASE: 160})
    store = Store(tmp_path)
    for baseline in baselines_of(run):
        store.save(baseline)
    case = run_of_baselines(store.load_all("a100"), "stored").cases[0]
    assert case.counted.counts["launches"][0]["accesses"][0][:5] == ["global load", 4, 10, 320, 160]
    assert case.counted.launched == ("copy",)
    assert dict(case.counted.kernels[0])["registers"] == 32


@pytest.mark.parametrize("kind", ["invalid", "impossible"])
def test_times_that_cannot_be_trusted_are_not_stored(kind):
    """Nor is a case whose check failed."""
    run = made_run({CASE: 50e-6})
    case = run.cases[0]
    doubtful = replace(case, verdict=replace(case.verdict, kind=kind))
    assert baselines_of(replace(run, cases=(doubtful,))) == []
    assert baselines_of(replace(run, cases=(replace(case, outcome="wrong"),))) == []


def test_a_timed_run_without_an_environment_cannot_be_stored():
    """Nobody could say what it may be compared with."""
    with pytest.raises(ValueError, match="has no environment"):
        baselines_of(made_run({CASE: 50e-6}, environment=None))


def test_published_figures_alone_are_no_run():
    """There is nothing in them to judge."""
    with pytest.raises(ValueError, match="neither times nor counts"):
        run_of_baselines([], "nothing")
