"""A run held against other results: the verdicts that it would have got, had those been its baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_roofline.baselines import Baseline, Counted, Past, differences, latest, past
from pytest_roofline.cost import Code, changes
from pytest_roofline.counting import counts
from pytest_roofline.counting.compiled import resources
from pytest_roofline.evidence import Environment, same_code
from pytest_roofline.runs.accepting import UNTRUSTED
from pytest_roofline.runs.building import comparison
from pytest_roofline.runs.record import COUNTED, CaseRecord, CountedFigures, RunRecord
from pytest_roofline.screening import Measured, screen
from pytest_roofline.statistics import Summary, alarm
from pytest_roofline.statistics.screen import Shift, shift
from pytest_roofline.verdict import Kind, Reason, Verdict


@dataclass(frozen=True)
class Compared:
    """``run`` is the newer run with the verdicts of this comparison in place of its own, ``missing`` are cases that
    only the older results have. ``common`` cases were in both; ``notes`` tell what concerns all of them."""

    run: RunRecord
    common: frozenset[str]
    missing: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def compared(self) -> int:
        """How many of the newer cases were compared."""
        return sum(case.id in self.common for case in self.run.cases)

    def only(self, text: str) -> Compared:
        """The cases whose id contains ``text``; what all cases have in common stays as it was found."""
        cases = tuple(case for case in self.run.cases if text in case.id)
        return replace(self, run=replace(self.run, cases=cases), missing=tuple(c for c in self.missing if text in c))


class IncomparableError(ValueError):
    """Two results that say nothing about each other; the message says why."""


def against(run: RunRecord, stored: Sequence[Baseline]) -> Compared:
    """Compare a run with stored results, or with those that another run would store.

    Raises :class:`IncomparableError` for another device, and where one was timed and the other only counted.
    """
    others = sorted({baseline.device for baseline in stored} - {run.device.key})
    if others:
        raise IncomparableError(
            f"the one is of {', '.join(others)}, the other of {run.device.key}: times and counts of different devices "
            "are never compared as if they were the same"
        )
    run = replace(run, cases=tuple(case for case in run.cases if not _missing(case)))
    return _counted(run, stored) if run.kind == COUNTED else _timed(run, stored)


def _missing(case: CaseRecord) -> bool:
    """Whether the run has no result of a case: it is then among those that only the older results have."""
    return case.verdict is not None and case.verdict.kind == Kind.MISSING.value


def _timed(run: RunRecord, stored: Sequence[Baseline]) -> Compared:
    if run.environment is None:
        raise IncomparableError(f"{run.id} says nothing of the environment of its times")
    before = past(stored, run.environment)
    if not before.runs:
        raise IncomparableError("the older results hold no times, only counts: compare counts with counts")
    current = {case.id: _summary(case) for case in run.cases if case.times is not None and not _untrusted(case)}
    moved = shift(current, before.history, [c.id for c in run.cases if c.id in current and _same_code(c, before)])
    # As in a session of the plugin: those share the false alarms whose code may have changed.
    suspects = [c for c in run.cases if c.id in current and not c.kernel.peer and not _same_code(c, before)]
    chance = alarm(len(suspects))
    here = run.environment
    cases = tuple(_time(case, current.get(case.id), before, moved, chance, here) for case in run.cases)
    notes = [f"another environment: {text}" for text in _environments(run, stored, before)]
    if moved.remarkable:
        notes.append(f"the whole run moved by {100 * moved.seen:+.1f} %, over {moved.cases} cases")
    return _result(replace(run, cases=cases), set(before.runs), notes)


def _same_code(case: CaseRecord, before: Past) -> bool:
    runs = before.runs.get(case.id, {})
    code = latest(runs).code if runs else None
    return code is not None and case.kernel.code is not None and same_code(case.kernel.code, code)


def _time(
    case: CaseRecord, summary: Summary | None, before: Past, moved: Shift, chance: float, here: Environment
) -> CaseRecord:
    if summary is None or case.times is None:
        return case  # wrong, invalid or impossible: its own verdict says so
    if case.kernel.peer:
        verdict = Verdict(Kind.INFORMATION, Reason.PEER, "a library routine is no kernel of this project")
    else:
        bracket = case.times.bracket
        same = _same_code(case, before)
        found = Measured(summary, bracket.protocol, bracket.launch_floor, summary.clock_mhz, same)
        verdict = screen(case.id, found, before, moved, chance, here)
    return replace(case, verdict=comparison("baseline", verdict), comparisons=())


def _summary(case: CaseRecord) -> Summary:
    assert case.times is not None
    bracket = case.times.bracket
    limited = case.telemetry is not None and "SwPowerCap" in case.telemetry.throttle_reasons
    clock = case.telemetry.clock_mhz if case.telemetry is not None else None
    return Summary(bracket.log_mean, bracket.quantiles, bracket.count, limited, clock)


def _untrusted(case: CaseRecord) -> bool:
    return case.outcome != "ok" or (case.verdict is not None and case.verdict.kind in UNTRUSTED)


def _environments(run: RunRecord, stored: Sequence[Baseline], before: Past) -> list[str]:
    """What differs from every stored campaign, once, where no campaign is alike."""
    assert run.environment is not None
    if not before.differences:
        return []
    found = [differences(e, run.environment) for baseline in stored for e in baseline.campaigns.values()]
    return list(dict.fromkeys("; ".join(one) for one in found if one))


def _counted(run: RunRecord, stored: Sequence[Baseline]) -> Compared:
    blocks = {baseline.operation: baseline.counted for baseline in stored if baseline.counted is not None}
    known = {case for block in blocks.values() for case in block.cases}
    if not known:
        raise IncomparableError("the older results hold no counts, and the newer run timed nothing")
    cases = tuple(_count(case, blocks.get(case.problem[0])) for case in run.cases)
    notes = _compilers(run, blocks)
    return _result(replace(run, cases=cases), known, notes)


def _count(case: CaseRecord, block: Counted | None) -> CaseRecord:
    if case.outcome != "ok" or case.counted is None:
        return case
    before = block.cases.get(case.id) if block is not None else None
    if block is None or before is None:
        verdict = Verdict(Kind.NEW, Reason.NO_BASELINE, "the older results have no counts of this case")
    else:
        now = counts.from_plain(case.counted.counts)
        change = changes(before, block.compiled, now, _code(case.counted))
        verdict = change.verdict(Verdict(Kind.SAME, Reason.COUNTS_EQUAL, "all counts are the same"))
    return replace(case, verdict=comparison("counts", verdict), comparisons=())


def _code(figures: CountedFigures) -> Code:
    kernels = {
        str(kernel["key"]): resources.from_plain(kernel, figures.arch, str(kernel["compiler"]))
        for kernel in figures.kernels
    }
    known = figures.launched or figures.calls
    return Code(figures.launched, figures.calls, kernels, missing=figures.missing or ("" if known else "not compiled"))


def _compilers(run: RunRecord, blocks: Mapping[str, Counted]) -> list[str]:
    """Code of different compilers is not compared, and nobody must take that for equal."""
    here = {str(kernel["compiler"]) for case in run.cases if case.counted for kernel in case.counted.kernels}
    there = {compiler for block in blocks.values() for compiler in block.compiled}
    return [f"code of {name} is not compared: the older results have none of it" for name in sorted(here - there)]


def _result(run: RunRecord, known: set[str], notes: Sequence[str]) -> Compared:
    mine = {case.id for case in run.cases}
    return Compared(run, frozenset(mine & known), tuple(sorted(known - mine)), tuple(notes))
