"""From a run file to baselines and back: what a run would store, and stored results as a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_roofline.attribution import accepted
from pytest_roofline.baselines import Baseline, Counted, CountedCase, Run, campaign_id, latest, past
from pytest_roofline.counting import counts
from pytest_roofline.counting.compiled import resources
from pytest_roofline.evidence import Telemetry, same_code
from pytest_roofline.ids import CaseId
from pytest_roofline.runs.record import (
    COUNTED,
    TIMED,
    Bracket,
    CaseRecord,
    Comparison,
    CountedFigures,
    Device,
    KernelFacts,
    RunRecord,
    Times,
)
from pytest_roofline.statistics import Change
from pytest_roofline.verdict import Kind, Reason, Verdict

UNTRUSTED = frozenset({Kind.INVALID.value, Kind.IMPOSSIBLE.value})
"""Verdicts whose times are never stored."""


def baselines_of(run: RunRecord) -> list[Baseline]:
    """What ``--roofline-update`` would have stored of a run, one per operation: its times without those that cannot be
    trusted, or its counts. Raises ``ValueError`` for counts that are none."""
    return _counted(run) if run.kind == COUNTED else _measured(run)


def verify_acceptable(run: RunRecord) -> None:
    """Raise ``ValueError`` for a run with planted slowdowns: its times are of no kernel."""
    planted = (run.options.get("retest") or {}).get("slow")
    if planted:
        what = ", ".join(f"{pattern} by {100 * fraction:g} %" for pattern, fraction in planted)
        raise ValueError(f"--roofline-slow planted slowdowns in it ({what}): they are never stored")


def supersede(run: RunRecord, found: Baseline, stored: Baseline) -> None:
    """Note in ``found``, what a run would store, which stored campaigns measured another kernel than it did.

    Those are the campaigns of cases whose verdict in that run was that the kernel changed, or whose code is another
    one, as with ``--roofline-update``. Of a run that was killed no verdict is the last one: it supersedes nothing.
    """
    if run.environment is None or run.ended is None:
        return
    known = past([stored], run.environment).runs
    for case in run.cases:
        runs = known.get(case.id, {})
        judged = case.verdict is not None and accepted(_verdict(case.verdict))
        if case.id in found.measured and (judged or _changed_code(case, runs)):
            found.superseded[case.id] = set(runs)


def _changed_code(case: CaseRecord, runs: Mapping[str, Run]) -> bool:
    before, now = latest(runs).code if runs else None, case.kernel.code
    return before is not None and now is not None and not same_code(before, now)


def run_of_baselines(stored: Sequence[Baseline], name: str) -> RunRecord:
    """Stored results as a run called ``name``: of each case its latest campaign, or its counts where no time is stored.

    Work, bounds and peers stand in the operations, not in baselines, so they are not there. Raises ``ValueError`` for
    baselines that hold neither.
    """
    timed = [_latest(case, runs) for baseline in stored for case, runs in sorted(baseline.measured.items())]
    counted = [_figures(case, entry, block) for block in _blocks(stored) for case, entry in sorted(block.cases.items())]
    if not timed and not counted:
        raise ValueError(f"{name} holds neither times nor counts")
    campaigns = {key: environment for baseline in stored for key, environment in baseline.campaigns.items()}
    environment = campaigns[max(campaigns)] if timed else None
    key = stored[0].device
    return RunRecord(
        id=name,
        started=f"{max(campaigns)[:10]}T00:00:00+00:00" if timed else "1970-01-01T00:00:00+00:00",
        kind=TIMED if timed else COUNTED,
        device=Device(key, environment.device if environment else key),
        version="",
        environment=environment,
        cases=tuple(timed or counted),
    )


def campaigns_of(run: RunRecord) -> str:
    """The campaign that a timed run is filed under. Raises ``ValueError`` without its environment."""
    if run.environment is None:
        raise ValueError(f"the run {run.id} has no environment: nothing of it was timed")
    return campaign_id(run.environment, run.started)


def _measured(run: RunRecord) -> list[Baseline]:
    campaign = campaigns_of(run)
    assert run.environment is not None
    found: dict[str, Baseline] = {}
    for case in run.cases:
        trusted = case.outcome == "ok" and (case.verdict is None or case.verdict.kind not in UNTRUSTED)
        if case.times is None or not trusted:
            continue
        operation = case.problem[0]
        baseline = found.setdefault(operation, Baseline(run.device.key, operation))
        baseline.campaigns[campaign] = run.environment
        baseline.measured[case.id] = {campaign: _run(case, case.times, run.ended or run.started)}
    return list(found.values())


def _verdict(said: Comparison) -> Verdict:
    change = None
    if said.ratio is not None and said.low is not None and said.high is not None:
        change = Change(said.ratio, said.low, said.high, said.detectable or 0.0)
    return Verdict(Kind(said.kind), Reason(said.reason), said.sentence, change, said.campaigns)


def _run(case: CaseRecord, times: Times, date: str) -> Run:
    state, bracket = case.telemetry or Telemetry(), times.bracket
    return Run(
        log_mean=bracket.log_mean,
        quantiles=bracket.quantiles,
        count=bracket.count,
        launches=bracket.launches,
        copies=bracket.copies,
        protocol=bracket.protocol,
        gap=bracket.gap,
        kernel=times.cupti,
        host=times.host,
        sm_clock_mhz=state.sm_clock_mhz,
        memory_clock_mhz=state.memory_clock_mhz,
        power_w=state.power_w,
        temperature_c=state.temperature_c,
        throttle_reasons=state.throttle_reasons,
        code=case.kernel.code,
        clock_mhz=state.clock_mhz,
        launch_floor=bracket.launch_floor or None,
        date=date,
    )


def _counted(run: RunRecord) -> list[Baseline]:
    found: dict[str, Baseline] = {}
    for case in run.cases:
        figures = case.counted
        if case.outcome != "ok" or figures is None:
            continue
        operation = case.problem[0]
        baseline = found.setdefault(operation, Baseline(run.device.key, operation, counted=Counted(figures.arch)))
        assert baseline.counted is not None
        entry = CountedCase(counts.from_plain(figures.counts), figures.launched, figures.calls)
        baseline.counted.cases[case.id] = entry
        for kernel in figures.kernels:
            compiler, key = str(kernel["compiler"]), str(kernel["key"])
            compiled = baseline.counted.compiled.setdefault(compiler, {})
            compiled[key] = resources.from_plain(kernel, figures.arch, compiler)
    return list(found.values())


def _latest(case: str, runs: Mapping[str, Run]) -> CaseRecord:
    run = runs[max(runs)]
    summary = run.summary
    bracket = Bracket(
        seconds=summary.seconds,
        log_mean=run.log_mean,
        quantiles=run.quantiles,
        count=run.count,
        launches=run.launches,
        copies=run.copies,
        protocol=run.protocol,
        tick=0.0,
        launch_floor=run.launch_floor or 0.0,
        gap=run.gap,
    )
    source = "bracket" if run.kernel is None else "cupti"
    telemetry = Telemetry(
        run.sm_clock_mhz,
        run.memory_clock_mhz,
        run.power_w,
        run.temperature_c,
        run.throttle_reasons,
        run.clock_mhz,
    )
    return CaseRecord(
        id=case,
        dims=CaseId.parse(case).shape.dims,
        kernel=KernelFacts(order=0, code=run.code),
        times=Times(run.kernel or summary.seconds, source, bracket, run.kernel, run.host),
        telemetry=telemetry,
    )


def _blocks(stored: Iterable[Baseline]) -> list[Counted]:
    return [baseline.counted for baseline in stored if baseline.counted is not None]


def _figures(case: str, entry: CountedCase, block: Counted) -> CaseRecord:
    kernels: list[Mapping[str, Any]] = [
        {"key": key, "compiler": compiler, **resources.to_plain(compiled[key])}
        for key in dict.fromkeys(entry.kernels)
        for compiler, compiled in sorted(block.compiled.items())
        if key in compiled
    ]
    plain = counts.to_plain(entry.counts, places=False)
    return CaseRecord(
        id=case,
        dims=CaseId.parse(case).shape.dims,
        kernel=KernelFacts(order=0),
        counted=CountedFigures(block.arch, case, plain, tuple(kernels), "", entry.kernels, entry.calls),
    )
