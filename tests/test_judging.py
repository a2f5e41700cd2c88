"""From evidence to a row: which time counts for what, and which verdict wins."""

import dataclasses

import pytest
from hypothesis import strategies as st

from pytest_roofline.baselines import Baseline, Store, run_of
from pytest_roofline.contract import (
    Argument,
    Bound,
    Floor,
    Kernel,
    Operation,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.devices.record import load
from pytest_roofline.evidence import Environment, Evidence, Outcome, Telemetry, Timing
from pytest_roofline.ids import CaseId, Shape
from pytest_roofline.judging import Judge
from pytest_roofline.reports import stored
from pytest_roofline.statistics import summarise
from pytest_roofline.verdict import Kind, Reason

HERE = Environment("NVIDIA H200", "580", "13.0", "3.12", {"torch": "2.11"}, 132, 62914560, machine="one")
N = 10**8
BOUND = 8 * N / 4.8e12  # 167 us
FLOORS = (Floor("h200", 0.5, "half was measured"), Floor("h200", 0.8, "most was measured", size=N))


def operation(**changes):
    """y = x on n floats, in one kernel and one peer."""
    kernels = (
        Kernel("cuda", "copy", "m:f", ("f32",), best=True, **changes),
        Kernel("torch", "copy", "m:g", ("f32",), peer=True),
    )
    return Operation(
        "op",
        "y = x",
        (Argument("x", Role.IN, lambda d: d), Argument("y", Role.OUT, lambda d: d)),
        lambda x: {"y": x},
        lambda shape, dtype: Work({}, Traffic(4 * shape.size, 4 * shape.size)),
        Tolerance(lambda c: {"y": Bound(None)}, ""),
        Shapes(lambda tile: st.just(Shape((1,))), (str(N),), (), ()),
        kernels,
    )


def evidence(seconds, kernel=None, case="op/cuda/copy/f32/100000000", environment=HERE):
    """A timing of twenty equal samples."""
    timing = Timing((seconds,) * 20, 1, 1, "graph_cold", 3e-8, 1e-6, 4e-7, kernel)
    return Evidence(case, Outcome.OK, timing=timing, environment=environment)


@pytest.fixture
def judge(tmp_path):
    """A judge of a H200 without baselines."""
    return Judge(Store(tmp_path), load("h200"), None)


def row(judge, seconds, variant="cuda/copy", kernel=None, environment=HERE, timing=None, **changes):
    """The row of one case; ``timing`` changes fields of the timing."""
    text = f"op/{variant}/f32/{N}"
    judge = Judge(judge.store, judge.record, judge.ceilings)  # which reads the store once
    case = operation(**changes).case(CaseId.parse(text))
    found = evidence(seconds, kernel, text, environment)
    return judge.row(case, dataclasses.replace(found, timing=dataclasses.replace(found.timing, **(timing or {}))))


def store(judge, seconds, environment=HERE, **changes):
    """Put one campaign into the judge's store; ``changes`` are of the timing."""
    name, text = f"2026-11-30.{environment.machine}{environment.driver}", f"op/cuda/copy/f32/{N}"
    timing = dataclasses.replace(evidence(seconds).timing, **changes)
    judge.store.save(Baseline("h200", "op", {name: environment}, {text: {name: run_of(timing)}}))


def test_a_first_run_is_new_and_has_its_share_of_the_bound(judge):
    """Without a baseline there are still rates and a bound."""
    found = row(judge, 200e-6)
    assert found.verdict.kind is Kind.NEW
    assert found.assessment.fraction(found.seconds) == pytest.approx(BOUND / 200e-6)
    assert found.rates.bytes_per_second == pytest.approx(4e12)
    assert found.plain()["fraction_of_bound"] == pytest.approx(BOUND / 200e-6)


def test_the_roofline_uses_the_kernels_own_time_and_the_verdict_the_brackets(judge):
    """A CUPTI duration stands for short kernels in the roofline only."""
    store(judge, 200e-6)
    found = row(judge, 200e-6, kernel=180e-6)
    assert (found.seconds, found.from_cupti, found.verdict.kind) == (180e-6, True, Kind.SAME)
    assert found.summary.seconds == pytest.approx(200e-6)


def test_a_slowdown_against_the_same_environment_is_a_regression(judge):
    """16 % over the stored run."""
    store(judge, 200e-6)
    assert row(judge, 232e-6).verdict.kind is Kind.REGRESSION


def test_runs_of_another_driver_are_not_silently_compared(judge):
    """With only another driver's runs stored the environment is named; with one of ours, only that one counts."""
    store(judge, 180e-6, dataclasses.replace(HERE, driver="570"))
    found = row(judge, 200e-6)
    assert found.verdict.kind is Kind.ENVIRONMENT
    assert "driver 570 -> 580" in found.verdict.sentence
    store(judge, 200e-6)
    assert row(judge, 200e-6).verdict.kind is Kind.SAME


def test_unchanged_code_is_not_blamed(judge):
    """The same machine code that is slower has found another environment; other code has become slower."""
    store(judge, 200e-6, code="abc")
    found = row(judge, 240e-6, timing={"code": "abc"}).verdict
    assert (found.kind, found.reason) == (Kind.ENVIRONMENT, Reason.SAME_CODE)
    assert row(judge, 240e-6, timing={"code": "other"}).verdict.kind is Kind.REGRESSION
    assert row(judge, 240e-6).verdict.kind is Kind.REGRESSION


def test_a_launch_floor_that_rose_is_not_blamed_on_the_kernel(judge):
    """A kernel of 2 us whose launches take 0.6 us more: without those it is what it was."""
    store(judge, 200e-6, launch_floor=1e-6)
    found = row(judge, 240e-6, timing={"launch_floor": 41e-6}).verdict
    assert (found.kind, found.reason) == (Kind.ENVIRONMENT, Reason.LAUNCH_FLOOR)
    assert row(judge, 240e-6, timing={"launch_floor": 2e-6}).verdict.kind is Kind.REGRESSION


def test_a_launch_floor_explains_no_change_that_is_none(judge):
    """What cannot be settled stays so: a nanosecond on an empty launch is not its cause."""
    store(judge, 200e-6, launch_floor=1e-6)
    found = row(judge, 222e-6, timing={"launch_floor": 1.001e-6}).verdict
    assert found.kind is Kind.UNRESOLVED
    assert "empty launch" not in found.sentence


def test_a_lower_clock_is_told_and_clears_nobody(judge):
    """Only the old kernel can say whether this one draws more power."""
    store(judge, 200e-6, telemetry=Telemetry(clock_mhz=1980.0))
    found = row(judge, 240e-6, timing={"telemetry": Telemetry(clock_mhz=1700.0)}).verdict
    assert (found.kind, found.reason, found.suspect) == (Kind.UNRESOLVED, Reason.CLOCK, True)
    assert row(judge, 240e-6, timing={"telemetry": Telemetry(clock_mhz=1979.0)}).verdict.kind is Kind.REGRESSION


def test_cards_of_one_start_make_no_firm_baseline(judge):
    """Six campaigns of two starts of the machine count as two, and the sentence says so."""
    text = f"op/cuda/copy/f32/{N}"
    for card in range(6):
        environment = dataclasses.replace(HERE, machine=f"start{card % 2}", gpu=f"card{card}")
        name = f"2026-11-30.{environment.machine}.{environment.gpu}"
        judge.store.save(Baseline("h200", "op", {name: environment}, {text: {name: run_of(evidence(200e-6).timing)}}))
    found = row(judge, 200e-6).verdict
    assert (found.campaigns, found.provisional) == (2, True)
    assert "against 6 stored runs of 2 starts of the machine" in found.sentence


def test_seconds_stand_beside_cycles(judge):
    """A kernel at the power limit that takes the same cycles at a lower clock, and so more seconds: both are told, and
    nothing is cleared."""
    held = Telemetry(clock_mhz=1500.0)
    other = f"op/cuda/copy/f32/{2 * N}"
    timing = dataclasses.replace(evidence(200e-6).timing, telemetry=Telemetry(clock_mhz=1980.0))
    name = f"2026-11-30.{HERE.machine}{HERE.driver}"
    judge.store.save(Baseline("h200", "op", {name: HERE}, {other: {name: run_of(timing)}}))
    store(judge, 200e-6, telemetry=held)
    found = row(judge, 210e-6, timing={"telemetry": Telemetry(clock_mhz=1500.0 / 1.05)}).verdict
    assert (found.kind, found.reason, found.suspect) == (Kind.UNRESOLVED, Reason.CLOCK, True)
    assert "at equal clocks against 1 stored run (+5.0 % in seconds)" in found.sentence
    assert row(judge, 200e-6, timing={"telemetry": held}).verdict.kind is Kind.SAME


def test_a_median_of_fresh_processes_stands_for_the_run(judge):
    """One slow process among five is not the kernel; how weak this is without an old one stands in the sentence."""
    store(judge, 200e-6)
    text = f"op/cuda/copy/f32/{N}"
    case, found = operation().case(CaseId.parse(text)), evidence(240e-6, None, text)
    assert judge.row(case, found).verdict.kind is Kind.REGRESSION
    again = judge.again(case, found, [evidence(200e-6, None, text).timing] * 4)
    assert (again.kind, again.suspect) == (Kind.SAME, False)
    still = judge.again(case, found, [evidence(240e-6, None, text).timing] * 4)
    assert still.kind is Kind.REGRESSION
    assert "median of 5 processes; without an old kernel" in still.sentence


def test_more_than_the_datasheet_allows_is_impossible(judge):
    """Even a first run cannot be faster than the roof."""
    assert row(judge, 0.9 * BOUND).verdict.kind is Kind.IMPOSSIBLE


@pytest.mark.parametrize(("share", "kind"), [(0.79, Kind.BELOW_FLOOR), (0.81, Kind.NEW)])
def test_the_floor_that_fits_the_size_counts(judge, share, kind):
    """The largest size that the problem reaches gives the floor."""
    assert row(judge, BOUND / share, floors=FLOORS).verdict.kind is kind


def test_every_comparison_is_kept_beside_the_verdict(judge):
    """Below its floor and slower as well: one verdict, but a report can show both."""
    store(judge, 200e-6)
    found = row(judge, 500e-6, floors=FLOORS)
    assert found.verdict.kind is Kind.BELOW_FLOOR
    kinds = {against: verdict.kind for against, verdict in found.comparisons}
    assert kinds == {"roof": Kind.BELOW_FLOOR, "baseline": Kind.REGRESSION}


def test_peers_only_inform(judge):
    """A library routine never fails a run."""
    found = row(judge, 0.9 * BOUND, "torch/copy")
    assert (found.verdict.kind, found.verdict.fails(strict=True)) == (Kind.INFORMATION, False)


def test_an_unknown_gpu_has_rates_but_no_percentage(tmp_path):
    """No record, no bound, no verdict from one."""
    found = row(Judge(Store(tmp_path), None, None), 1e-12)
    assert found.assessment.fraction(found.seconds) is None
    assert found.verdict.kind is Kind.NEW


@pytest.mark.parametrize("reason", [Reason.THROTTLED, Reason.HOST_STALLED])
def test_invalid_evidence_keeps_its_reason(judge, reason):
    """Never the same, never stored, and whoever reads the code learns what was wrong with the measurement."""
    case = operation().case(CaseId.parse(f"op/cuda/copy/f32/{N}"))
    found = judge.row(case, Evidence(str(case), Outcome.INVALID, "in words", reason=reason.value))
    assert (found.verdict.kind, found.verdict.reason, found.verdict.sentence) == (Kind.INVALID, reason, "in words")
    assert found.verdict.fails()


def test_evidence_without_a_time_or_a_reason_is_no_time(judge):
    """It is not called throttled: nobody knows that it was."""
    case = operation().case(CaseId.parse(f"op/cuda/copy/f32/{N}"))
    found = judge.row(case, Evidence(str(case), Outcome.OK))
    assert (found.verdict.kind, found.verdict.reason) == (Kind.INVALID, Reason.NO_TIME)


def test_stored_results_are_shown_with_bound_and_provenance(judge, tmp_path):
    """What a machine without a GPU prints: time, share of the bound, and that it was measured elsewhere."""
    from pytest_roofline.discovery import Catalogue, LoadedOperation

    store(judge, 200e-6)
    catalogue = Catalogue(tmp_path, (LoadedOperation(operation(), "op", tmp_path / "op.py"),), ())
    lines = stored.lines(judge.store.load_all("h200"), catalogue)
    assert lines[1] == "op on h200"
    assert lines[3].split() == ["cuda/copy/f32/100000000", "200.00", "us", "83.3%", "measured,", "1", "campaign"]
    assert stored.lines([], catalogue) == ["no results are stored"]


def test_controls_tell_how_far_a_run_has_moved(judge):
    """Measured again beside a suspect, they stand for the whole run: as slow as they are now, the suspect is the same;
    beside controls that have not moved it is not."""
    names = [f"op/cuda/copy/f32/{1000 + k}" for k in range(40)]
    text, samples = f"op/cuda/copy/f32/{N}", run_of(evidence(200e-6).timing)
    for machine in ("aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", "eeeeeeee"):
        environment, name = dataclasses.replace(HERE, machine=machine), f"2026-11-30.{machine}"
        measured = {case: {name: samples} for case in (text, *names)}
        judge.store.save(Baseline("h200", "op", {name: environment}, measured))
    case, found = operation().case(CaseId.parse(text)), evidence(202e-6, None, text)
    fresh = [found.timing] * 4
    moved, unmoved = ({name: summarise((seconds,) * 20) for name in names} for seconds in (202e-6, 200e-6))
    judge.row(case, found)
    open_still = judge.again(case, found, fresh, controls=moved)
    assert (open_still.kind, open_still.reason) == (Kind.UNRESOLVED, Reason.CAMPAIGN)  # all of them may be new code
    judge.unchanged.update(names)
    assert judge.again(case, found, fresh, controls=moved).kind is Kind.SAME
    assert judge.again(case, found, fresh, controls=unmoved).kind is Kind.REGRESSION
