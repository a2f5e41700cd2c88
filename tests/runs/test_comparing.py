"""One run against another: the plugin's rule, and what cannot be compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.evidence import Telemetry
from pytest_roofline.runs.accepting import baselines_of
from pytest_roofline.runs.comparing import IncomparableError, against
from tests.runs.made import HERE, made_case, made_counted, made_run

CASES = {f"copy/cuda/v{k}/f32/8": 50e-6 for k in range(5)}
CASE = "copy/cuda/v0/f32/8"


def verdicts(found):
    """Verdict by variant."""
    return {case.parts.variant: case.verdict.kind for case in found.run.cases}


def test_a_doubled_time_is_a_regression_and_the_rest_is_not():
    """Also against a single run; the verdicts of the newer run itself are replaced."""
    found = against(made_run({**CASES, CASE: 100e-6}), baselines_of(made_run(CASES)))
    kinds = verdicts(found)
    assert kinds.pop("v0") == "regression"
    assert "regression" not in kinds.values()
    assert found.compared == 5
    assert found.run.cases[0].verdict.ratio == pytest.approx(2, rel=0.02)


def test_unchanged_code_shares_no_false_alarms():
    """The fewer kernels may have changed, the narrower are the intervals, as in a session of the plugin."""
    many = {f"copy/cuda/v{k}/f32/8": 50e-6 for k in range(200)}
    before = baselines_of(with_code(made_run(many), "old"))
    all_changed = against(with_code(made_run(many), "new"), before).run.cases[0].verdict
    mixed = with_code(made_run(many), "old")
    one = replace(mixed.cases[0], kernel=replace(mixed.cases[0].kernel, code="new"))
    one_changed = against(replace(mixed, cases=(one, *mixed.cases[1:])), before).run.cases[0].verdict
    assert one_changed.high - one_changed.low < 0.9 * (all_changed.high - all_changed.low)


def with_code(run, code):
    """The run with this digest of every kernel's code."""
    return replace(run, cases=tuple(replace(c, kernel=replace(c.kernel, code=code)) for c in run.cases))


def test_cases_of_one_side_only_are_new_or_missing():
    """Neither is silent."""
    found = against(made_run({CASE: 50e-6, "copy/cuda/late/f32/8": 1e-6}), baselines_of(made_run(CASES)))
    assert verdicts(found)["late"] == "new"
    assert found.missing == tuple(f"copy/cuda/v{k}/f32/8" for k in range(1, 5))
    assert found.compared == 1


def test_a_case_that_the_newer_run_should_have_had_is_missing_here_too():
    """It has no result, so the comparison finds it in the older results alone and does not count it as compared."""
    gone = replace(made_case(CASE, 1.0, kind="missing"), times=None)
    after = made_run({"copy/cuda/v1/f32/8": 50e-6})
    found = against(replace(after, cases=(*after.cases, gone)), baselines_of(made_run(CASES)))
    assert verdicts(found) == {"v1": "same"}
    assert CASE in found.missing
    assert found.compared == 1


def test_peers_inform_and_failed_checks_stay_failed():
    """A library routine never fails a comparison; a wrong kernel has no time to compare."""
    peer = made_case("copy/torch/copy/f32/8", 90e-6, peer=True)
    wrong = replace(made_case(CASE, 50e-6), outcome="wrong", detail="errors", verdict=None)
    before = baselines_of(made_run({**CASES, "copy/torch/copy/f32/8": 10e-6}))
    found = against(replace(made_run({}), cases=(peer, wrong)), before)
    assert found.run.cases[0].verdict.kind == "information"
    assert found.run.cases[1].verdict is None


def with_clock(run, clocks):
    """The run with the SM clock of each kernel, by variant (others: 1980 MHz)."""
    cases = [replace(c, telemetry=Telemetry(clock_mhz=clocks.get(c.parts.variant, 1980.0))) for c in run.cases]
    return replace(run, cases=tuple(cases))


def test_a_lower_clock_explains_a_slowdown():
    """As in a session of the plugin: only the old kernel could tell."""
    before = baselines_of(with_clock(made_run(CASES), {}))
    slower = made_run({**CASES, CASE: 100e-6})
    assert verdicts(against(with_clock(slower, {}), before))["v0"] == "regression"
    found = against(with_clock(slower, {"v0": 990.0}), before).run.cases[0].verdict
    assert (found.kind, found.reason) == ("unresolved", "clock_shifted")


def test_a_slower_empty_launch_explains_a_slowdown():
    """By no more than it became slower itself."""

    def with_floor(run, seconds):
        times = [replace(c.times, bracket=replace(c.times.bracket, launch_floor=seconds)) for c in run.cases]
        cases = [replace(c, times=t) for c, t in zip(run.cases, times, strict=True)]
        return replace(run, cases=tuple(cases))

    before = baselines_of(with_floor(made_run(CASES), 5e-7))
    slower = made_run({**CASES, CASE: 100e-6})
    assert verdicts(against(with_floor(slower, 1e-6), before))["v0"] == "regression"
    found = against(with_floor(slower, 50.5e-6), before).run.cases[0].verdict
    assert (found.kind, found.reason) == ("environment", "launches_cost_more_or_less")


def test_campaigns_of_one_start_of_the_machine_count_as_one():
    """As in a session of the plugin: two cards of one start make no firmer a baseline than one, and it is said."""
    cards = [made_run(CASES, environment=replace(HERE, gpu=gpu)) for gpu in ("a", "b")]
    before = [baseline for run in cards for baseline in baselines_of(run)]
    merged = replace(
        before[0],
        campaigns={k: e for baseline in before for k, e in baseline.campaigns.items()},
        measured={case: {**before[0].measured[case], **before[1].measured[case]} for case in CASES},
    )
    found = against(made_run(CASES), [merged]).run.cases[0].verdict
    assert found.campaigns == 1
    assert "against 2 stored runs of 1 start of the machine" in found.sentence


def test_another_driver_is_told_and_explains_a_change():
    """A slowdown under another driver is not the kernel's."""
    before = made_run(CASES, environment=replace(HERE, driver="570"))
    found = against(made_run({**CASES, CASE: 100e-6}), baselines_of(before))
    assert verdicts(found)["v0"] == "environment"
    assert found.notes == ("another environment: driver 570 -> 580",)


def test_different_devices_are_refused():
    """Times of one GPU say nothing about another's."""
    other = replace(made_run(CASES), device=replace(made_run(CASES).device, key="a100"))
    with pytest.raises(IncomparableError, match="the one is of a100, the other of h200"):
        against(made_run(CASES), baselines_of(other))


def test_counts_are_compared_with_counts():
    """More sectors fail, fewer are reported, equal ones are the same; no tolerance."""
    before = baselines_of(made_counted({"copy/cuda/a/f32/8": 100, "copy/cuda/b/f32/8": 100, "copy/cuda/c/f32/8": 100}))
    after = made_counted({"copy/cuda/a/f32/8": 101, "copy/cuda/b/f32/8": 90, "copy/cuda/c/f32/8": 100})
    found = against(after, before)
    assert verdicts(found) == {"a": "regression", "b": "improvement", "c": "same"}
    assert "101 sectors, 100 before" in found.run.cases[0].verdict.sentence


def test_more_spills_fail_and_another_compiler_is_not_compared():
    """Code of one compiler says nothing about that of another, and the comparison says so."""
    run = made_counted({CASE: 100})
    case = run.cases[0]

    def with_kernel(**changes):
        kernel = {**case.counted.kernels[0], **changes}
        return replace(run, cases=(replace(case, counted=replace(case.counted, kernels=(kernel,))),))

    spilled = against(with_kernel(spills=64), baselines_of(run))
    assert verdicts(spilled) == {"v0": "regression"}
    foreign = against(with_kernel(spills=64, compiler="nvrtc 14.0"), baselines_of(run))
    assert verdicts(foreign) == {"v0": "same"}
    assert foreign.notes == ("code of nvrtc 14.0 is not compared: the older results have none of it",)


def test_what_a_launcher_asks_torch_for_is_compared_as_in_a_session():
    """One more operation is one more launch; a run that compiled nothing says nothing of that."""
    run = made_counted({CASE: 100})

    def with_calls(calls, **changes):
        figures = replace(run.cases[0].counted, calls=calls, **changes)
        return replace(run, cases=(replace(run.cases[0], counted=figures),))

    more = against(with_calls(("aten::zero_",)), baselines_of(run))
    assert verdicts(more) == {"v0": "regression"}
    assert "torch is asked for aten::zero_, before for nothing" in more.run.cases[0].verdict.sentence
    nothing = with_calls((), launched=(), kernels=())
    assert verdicts(against(nothing, baselines_of(with_calls(("aten::zero_",))))) == {"v0": "same"}


def test_times_and_counts_are_not_compared():
    """In either direction."""
    timed = replace(made_run(CASES), device=made_counted({}).device)
    with pytest.raises(IncomparableError, match="only counts"):
        against(timed, baselines_of(made_counted({CASE: 1})))
    with pytest.raises(IncomparableError, match="hold no counts"):
        against(made_counted({CASE: 1}), baselines_of(timed))


def test_a_part_of_the_cases_is_judged_as_in_the_whole():
    """What all cases have in common is taken out before the selection."""
    found = against(made_run({**CASES, CASE: 100e-6}), baselines_of(made_run(CASES)))
    part = found.only("v0")
    assert [case.verdict for case in part.run.cases] == [found.run.cases[0].verdict]
    assert part.compared == 1
