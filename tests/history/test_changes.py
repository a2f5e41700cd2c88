"""Change points: a new level is found, noise is none."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.history import changes
from pytest_roofline.history.changes import ENOUGH, change_points, levels, levels_of_times, with_changes
from pytest_roofline.history.queries import Point
from pytest_roofline.reports.series import RunPoint, Series

pytest.importorskip("ruptures")


def noisy(values, spread=0.005, seed=1):
    """Values with independent noise between runs."""
    source = random.Random(seed)
    return [value * (1 + source.gauss(0, spread)) for value in values]


def points(values, **changes):
    """Runs with these values; ``changes`` give fields from a place on."""
    fields = {"dirty": False, "machine": "m", "driver": "580", "toolchain": "t"}
    found = []
    for place, value in enumerate(values):
        here = {**fields, **{name: new for name, (at, new) in changes.items() if place >= at}}
        found.append(Point(f"r{place}", "", f"c{place}", value=value, low=None, high=None, verdict="", **here))
    return found


@pytest.mark.parametrize("ratio", [1.03, 0.9, 2.0])
def test_a_step_is_found_where_it_is(ratio):
    """Three percent in noise of half a percent, within two runs, with its size."""
    ((at, found),) = levels(noisy([50e-6] * 40 + [50e-6 * ratio] * 40))
    assert abs(at - 40) <= 2
    assert found == pytest.approx(ratio, rel=0.005)


def test_there_and_back_are_two_changes():
    """A slowdown that was repaired."""
    found = levels(noisy([10e-6] * 30 + [11e-6] * 30 + [10e-6] * 30))
    assert [round(ratio, 1) for _, ratio in found] == [1.1, 0.9]


def test_noise_alone_is_no_change():
    """At most one false level in fifty histories of 200 runs."""
    assert sum(len(levels(noisy([50e-6] * 200, seed=seed))) for seed in range(50)) <= 1


def test_single_odd_runs_are_no_level():
    """Two slow runs in a row are none yet either."""
    values = noisy([50e-6] * 60)
    values[20] *= 1.5
    values[40] *= 1.5
    values[41] *= 1.5
    assert levels(values) == []


def test_a_change_too_small_to_matter_is_none():
    """However exact the figures: a quarter of a percent is below what gets a verdict."""
    assert levels([50e-6] * 20 + [50.125e-6] * 20) == []


def test_exact_figures_step_exactly():
    """Counts have no noise; from no conflicts to some is a change."""
    assert levels([100.0] * 10 + [101.0] * 10) == [(10, pytest.approx(1.01))]
    ((at, ratio),) = levels([0.0] * 10 + [64.0] * 10)
    assert at == 10
    assert ratio > 1


def test_a_drift_below_the_stated_noise_is_none():
    """Six runs of one day that drift by 0.7 %: their neighbours hardly differ, two starts of a machine do."""
    assert levels_of_times([50.00e-6, 50.02e-6, 50.01e-6, 50.36e-6, 50.35e-6, 50.37e-6]) == []
    assert [at for at, _ in levels_of_times([50.00e-6, 50.02e-6, 50.01e-6, 51.5e-6, 51.6e-6, 51.5e-6])] == [3]
    assert levels_of_times([2.00e-6] * 10 + [2.03e-6] * 10) == [], "of a short kernel 1.5 % are noise"


def test_counted_figures_have_no_stated_noise():
    """0.7 % more sectors are a change of the code; as seconds they are none."""
    exact = points([1000.0] * 5 + [1007.0] * 5)
    assert [change.at for change in change_points(exact, times=False)] == [5]
    assert change_points(exact) == []


def test_a_level_does_not_borrow_runs():
    """Six runs of which two are slow: the third that a level needs is not taken from the one before."""
    assert levels([50e-6, 50.1e-6, 50e-6, 50.1e-6, 55e-6, 55.1e-6]) == []
    assert [at for at, _ in levels([50e-6, 50.1e-6, 50e-6, 50.1e-6, 55e-6, 55.1e-6, 55e-6])] == [4]


def test_small_steps_of_one_direction_add_up():
    """Two steps of 0.7 % are a change of 1.4 %, told once."""
    found = levels_of_times([50e-6] * 20 + [50.35e-6] * 20 + [50.70e-6] * 20)
    assert [round(ratio, 3) for _, ratio in found] in ([1.010], [1.011], [1.014])


def test_a_quiet_history_is_not_searched(monkeypatch):
    """Where no two levels can differ by enough, ruptures, which takes a second to import, is not asked."""
    monkeypatch.setattr(changes, "require", lambda module: pytest.fail(f"{module} was imported"))
    values = noisy([50e-6] * 200, spread=0.001)
    values[7] *= 3
    assert levels_of_times(values) == []


def test_few_runs_have_no_levels():
    """Below six nothing is looked for."""
    assert levels([1.0, 1.0, 1.0, 9.0, 9.0][: ENOUGH - 1]) == []


@given(st.lists(st.floats(1e-9, 1.0), min_size=0, max_size=40), st.floats(0.1, 10))
def test_the_unit_does_not_matter(values, factor):
    """The same changes in seconds and in microseconds, and never at the very first run."""
    found = levels(values)
    assert [at for at, _ in levels([value * factor for value in values])] == [at for at, _ in found]
    assert all(0 < at < len(values) for at, _ in found)


def test_what_else_changed_is_told():
    """Another driver at the same place may be the cause."""
    values = noisy([50e-6] * 20 + [60e-6] * 20)
    (found,) = change_points(points(values, driver=(20, "590"), toolchain=(5, "u")))
    assert found.also == ("driver 580 -> 590",)
    assert (found.before.commit, found.after.commit) == ("c19", "c20")


def test_gaps_do_not_shift_the_place():
    """A case that some runs did not time changes at the run where it was seen."""
    values = noisy([50e-6] * 10 + [60e-6] * 10)
    seconds = tuple(x for value in values for x in (value, None))
    runs = tuple(RunPoint(f"r{k}", "") for k in range(len(seconds)))
    assert with_changes(Series(runs, {"a": seconds, "b": (1.0,) * 40})).changes == {"a": (20,)}
