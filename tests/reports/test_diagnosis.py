"""The diagnosis table: each row applies where its figures say so, and says which figures those were."""

from __future__ import annotations

import pytest

from pytest_roofline.reports.diagnosis import IN_TABLE, RULES, Figure, Status, diagnose

HEALTHY = {
    "dram_share": 70.0,
    "fma_share": 30.0,
    "stall.long_scoreboard": 20.0,
    "load_sectors": 1000.0,
    "store_sectors": 500.0,
    "load_used": 100.0,
    "store_used": 100.0,
    "shared_passes": 1000.0,
    "shared_conflicts": 10.0,
    "occupancy": 60.0,
    "eligible_warps": 2.0,
    "local_requests": 0.0,
    "spills": 0.0,
    "fraction": 80.0,
    "atomics_per_element": 0.0,
    "kernels_traffic": 1.0,
    "launch_share": 1.0,
}

SICK = {
    "diag-1": {"dram_share": 20.0, "stall.long_scoreboard": 70.0},
    "diag-2": {"dram_share": 88.0, "fma_share": 5.0},
    "diag-3": {"store_used": 12.5},
    "diag-4": {"shared_conflicts": 900.0},
    "diag-5": {"eligible_warps": 0.1},
    "diag-6": {"local_requests": 64.0},
    "diag-7": {"fma_share": 85.0},
    "red-ladder": {"atomics_per_element": 1.0},
    "fuse-1": {"kernels_traffic": 2.0},
    "roof-3": {"launch_share": 30.0},
}


def figures(**values: float) -> dict[str, Figure]:
    """Figures with labels that are their names."""
    return {name: Figure(name, value, "", "as made") for name, value in values.items()}


def applying(values: dict[str, float]) -> list[str]:
    return [f.claim for f in diagnose(figures(**values)) if f.status is Status.APPLIES]


def test_a_healthy_kernel_has_no_finding():
    """Every row is judged, and none applies."""
    assert {f.status for f in diagnose(figures(**HEALTHY))} == {Status.DOES_NOT}


@pytest.mark.parametrize("claim", SICK)
def test_each_row_is_triggered_by_its_own_figures_alone(claim: str):
    """One thing that is wrong brings up one row."""
    assert applying({**HEALTHY, **SICK[claim]}) == [claim]


@pytest.mark.parametrize("claim", SICK)
def test_a_finding_carries_the_figures_that_triggered_it(claim: str):
    """Each figure that was changed stands in the finding, with its value."""
    found = next(f for f in diagnose(figures(**{**HEALTHY, **SICK[claim]})) if f.claim == claim)
    assert {(f.label, f.value) for f in found.figures} >= set(SICK[claim].items())
    assert 0 < found.weight <= 1


def test_what_nobody_took_is_unknown_and_not_healthy():
    """Without figures no row is ruled out, and each names what it lacks."""
    found = diagnose({})
    assert {f.status for f in found} == {Status.UNKNOWN}
    assert all(f.missing for f in found)


@pytest.mark.parametrize("name", ["dram_share", "stall.long_scoreboard"])
def test_half_of_the_figures_judge_nothing(name: str):
    """Low throughput alone does not say that too few requests are in flight."""
    values = {**HEALTHY, **SICK["diag-1"]}
    del values[name]
    found = next(f for f in diagnose(figures(**values)) if f.claim == "diag-1")
    assert (found.status, found.missing) == (Status.UNKNOWN, (name,))


def test_scattered_stores_that_are_few_are_no_finding():
    """A reduction writes one number per block: an eighth of a sector, and nothing that holds it back."""
    assert applying({**HEALTHY, "store_used": 12.5, "store_sectors": 20.0}) == []


def test_the_strongest_of_two_conflicts_weighs_more():
    """Weights put findings in order."""
    few = diagnose(figures(**{**HEALTHY, "shared_conflicts": 200.0}))[3].weight
    assert few < diagnose(figures(**{**HEALTHY, "shared_conflicts": 970.0}))[3].weight


def test_all_wait_names_what_for():
    """The largest reason for waiting, and atomics where there are any, stand beside the warps."""
    values = {**HEALTHY, "eligible_warps": 0.0, "stall.drain": 52.0, "atomic_requests": 131072.0}
    found = next(f for f in diagnose(figures(**values)) if f.claim == "diag-5")
    assert [f.label for f in found.figures] == ["occupancy", "eligible_warps", "stall.drain", "atomic_requests"]


def test_the_table_has_the_seven_rows_of_the_document():
    """In its order; three more stand beside it."""
    assert [rule.claim for rule in RULES[:IN_TABLE]] == [f"diag-{i}" for i in range(1, 8)]
    assert [rule.claim for rule in RULES[IN_TABLE:]] == ["red-ladder", "fuse-1", "roof-3"]
    assert set(SICK) == {rule.claim for rule in RULES}


@pytest.mark.parametrize(("value", "text"), [(12.5, "12.5 %"), (0.04678, "0.0468 %"), (262178.0, "262\u202f178 %")])
def test_figures_read_as_people_write_them(value: float, text: str):
    """Three digits, thousands apart, and no exponent."""
    assert str(Figure("share", value, "%", "")) == f"share: {text}"
