"""Questions to a history."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.history import HistoryError, queries
from pytest_roofline.runs import Commit, render
from tests.history.conftest import CASE, run_at, texts_of
from tests.runs.made import HERE, made_counted

pytest.importorskip("duckdb")

from pytest_roofline.history.store import Store


@pytest.fixture
def store(tmp_path):
    """A history in a folder."""
    return Store(tmp_path)


def test_the_latest_runs_come_first_with_what_failed(store):
    """So many as asked for, of one device or branch."""
    bad = run_at(1, {CASE: 2e-6})
    bad = replace(bad, cases=(replace(bad.cases[0], verdict=replace(bad.cases[0].verdict, kind="regression")),))
    side = run_at(2, {CASE: 1e-6}, commit=Commit("c" * 40, "2026-11-01T00:00:00+00:00", "side", True))
    store.add([*texts_of([1e-6]), ("1", render(bad)), ("2", render(side)), ("c", render(made_counted({CASE: 1})))])
    found = queries.runs(store, limit=3)
    assert [run.run for run in found] == ["20261130T120000Z-00000002", "run0002", "run0001"]
    assert [(run.cases, run.failing, run.dirty) for run in found] == [(1, 0, False), (1, 0, True), (1, 1, False)]
    assert [run.run for run in queries.runs(store, branch="side")] == ["run0002"]
    assert [run.run for run in queries.runs(store, device="a100")] == ["20261130T120000Z-00000002"]


def test_a_case_over_its_runs_is_in_the_order_of_time(store):
    """Whatever the order of ingest; with the quartiles of each run."""
    store.add(reversed(texts_of([1e-6, 2e-6, 3e-6])))
    found = queries.series(store, CASE)
    assert [point.run for point in found] == ["run0000", "run0001", "run0002"]
    assert all(point.low < point.value < point.high for point in found)
    assert found[0].started == "2026-11-01T00:00:00Z"


def test_counted_figures_are_a_series_of_their_own(store):
    """A run that has no such figure is left out; one without any says so."""
    store.add([("c", render(made_counted({CASE: 160})))])
    assert [point.value for point in queries.series(store, CASE, figure="sectors")] == [160]
    with pytest.raises(HistoryError, match="has no seconds in any of its 1 runs"):
        queries.series(store, CASE)
    with pytest.raises(HistoryError, match="there is no figure 'speed'; known are seconds, launches"):
        queries.series(store, CASE, figure="speed")


def test_an_unknown_case_names_those_near_it(store):
    """A slip of the hand is found at once."""
    store.add(texts_of([1e-6]))
    with pytest.raises(HistoryError, match=f"no case copy/cuda/plan/f32/4097; near it are {CASE}"):
        queries.series(store, "copy/cuda/plan/f32/4097")


def test_a_case_of_two_devices_must_be_told_apart(store):
    """Times of different devices are no series."""
    store.add([*texts_of([1e-6]), ("c", render(made_counted({CASE: 160})))])
    with pytest.raises(HistoryError, match="was run on a100, h200: choose one with --device"):
        queries.series(store, CASE)
    assert len(queries.series(store, CASE, "h200")) == 1


def test_runs_of_one_commit_become_one_point(store):
    """Their median and the spread between them; changes on top of a commit are another point."""
    commit = Commit("d" * 40, "2026-11-01T00:00:00+00:00", "main")
    for place, seconds in enumerate((1e-6, 3e-6, 2e-6)):
        store.add([("x", render(run_at(place, {CASE: seconds}, commit=commit)))])
    store.add([("x", render(run_at(3, {CASE: 9e-6}, commit=replace(commit, dirty=True))))])
    points = queries.by_commit(queries.series(store, CASE))
    assert [point.value for point in points] == pytest.approx([2e-6, 9e-6], rel=0.01)
    assert (points[0].low, points[0].high) == pytest.approx((1e-6, 3e-6), rel=0.01)


def test_a_table_has_every_case_of_the_latest_runs(store):
    """Gaps are empty, another driver is noted, and counted runs are not among the times."""
    driver = replace(HERE, driver="590")
    store.add([*texts_of([1e-6, 2e-6]), ("x", render(run_at(2, {"copy/cuda/new/f32/8": 5e-6}, environment=driver)))])
    store.add([("c", render(made_counted({CASE: 1})))])
    found = queries.table(store, "h200", limit=2)
    assert [run.id for run in found.runs] == ["run0001", "run0002"]
    assert found.runs[1].note == "driver 580 -> 590"
    assert found.seconds[CASE] == (pytest.approx(2e-6, rel=0.01), None)
    assert found.seconds["copy/cuda/new/f32/8"] == (None, pytest.approx(5e-6, rel=0.01))
    with pytest.raises(HistoryError, match="no timed runs of a100"):
        queries.table(store, "a100")
