"""A test of its own at the end of a benchmark run: does every baseline belong to a case, and did every case run?

A case that is stored and was selected must have a result, or a report of its own that says why not: that it was
skipped, or how it failed. Without a GPU also: is every kernel that is timed launched by a case that is counted?
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pytest_roofline.baselines import Baseline, device_key
from pytest_roofline.contract import Case
from pytest_roofline.state import KEY, State
from pytest_roofline.verdict import Kind, Reason, Verdict

NAME = "roofline-baselines"


class IncompleteError(Exception):
    """Baselines and cases do not match; the message names every one."""


class CompletenessItem(pytest.Item):
    """Fails for orphan baselines, for kernels that are timed and never counted, and for cases that a baseline holds
    but that did not run although they should have."""

    def runtest(self) -> None:
        """Compare the stored case ids with the catalogue and with this run."""
        state = self.config.stash[KEY]
        baselines = state.baselines
        problems = [_told(verdict) for verdict in orphans(state, baselines)]
        if problems:
            problems.append(
                "pytest-roofline baseline forget CASE drops what is stored, baseline rename OLD NEW moves it"
            )
        state.missing = missing(state, baselines)
        problems += map(_told, state.missing.values())
        if state.device == "gpu" and state.complete and not state.rows:
            problems.append("no case was timed")
        if "gate" in vars(state):
            advice = "give Shapes.counted of its operation one that launches it"
            problems += [f"uncounted: {text}: {advice}" for text in unseen(state, baselines)]
        if problems:
            raise IncompleteError("\n".join(problems))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The message alone; there is no code to show."""
        if isinstance(excinfo.value, IncompleteError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Where it belongs in reports: the folder of baselines."""
        return self.config.stash[KEY].options.baselines, None, NAME


def _told(verdict: Verdict) -> str:
    return f"{verdict.kind.value}: {verdict.sentence} ({verdict.reason.value})"


def orphans(state: State, baselines: Iterable[Baseline]) -> list[Verdict]:
    """Stored cases that no operation times, or counts, any more. Of a file that cannot be loaded nobody knows."""
    known = {str(case) for case in state.catalogue.timed(full=True)}
    countable, broken = _countable(state), {operation.name for operation in state.catalogue.broken}
    found = []
    for b in baselines:
        if b.operation in broken:
            continue
        path = state.store.path(b.device, b.operation)
        found += [f"{case} in {path} is no timed case" for case in b.case_ids() - known]
        found += [
            f"{case} in {path} is no counted case"
            for case in (b.counted.cases if b.counted else ())
            if case not in countable
        ]
    return [Verdict(Kind.ORPHAN, Reason.NO_CASE, sentence) for sentence in sorted(found)]


def missing(state: State, baselines: Iterable[Baseline]) -> dict[str, Verdict]:
    """Cases that this run should have had, because something is stored of them, and that no report accounts for."""
    if state.device == "gpu":
        from pytest_roofline.timing import environment

        here = device_key(environment())
        stored = {case for b in baselines if b.device == here for case in b.measured}
        absent = (stored & state.selected) - set(state.evidence)
        # That this machine cannot run a case is no excuse here: it could.
        accounted = state.accounted - set(state.unavailable)
        sentence = "{} is in the baseline of this GPU, but did not run"
    else:
        stored = {case for b in baselines if b.counted for case in b.counted.cases}
        absent = (stored & state.selected) - _counted(state) | _not_selected(state, stored & _countable(state))
        accounted = state.accounted
        sentence = "{} has stored counts, but was not counted"
    return {case: _missing(sentence.format(case), state.unavailable.get(case)) for case in sorted(absent - accounted)}


def _missing(sentence: str, why: str | None) -> Verdict:
    return Verdict(Kind.MISSING, Reason.NOT_RUN, f"{sentence}: {why}" if why else sentence)


def _countable(state: State) -> set[str]:
    return {str(case) for case in (*state.catalogue.counted(), *state.catalogue.compiled(full=True))}


def _counted(state: State) -> set[str]:
    return {str(row.case) for row in state.gate.rows} | state.gate.unknown


def _not_selected(state: State, stored: set[str]) -> set[str]:
    """In a run of everything, cases with stored counts that it does not count any more, though this machine can count
    others of their language. An update drops their counts; with quick effort most cases are not meant to be counted."""
    if not state.complete or state.options.update or state.options.effort == "quick":
        return set()
    backends = {row.case.kernel.backend for row in state.gate.rows}
    return {case for case in stored - _counted(state) if case.split("/")[1] in backends}


def account(item: pytest.Item, report: pytest.TestReport) -> None:
    """Remember a case whose test was skipped or failed: its report says why it has no result."""
    case = _case(item)
    if isinstance(case, Case) and not report.passed:
        item.config.stash[KEY].accounted.add(str(case))


def unseen(state: State, baselines: Iterable[Baseline]) -> list[str]:
    """Kernels that are timed, but that no counted case launches."""
    from pytest_roofline.gate import unseen as in_rows

    blocks = [b.counted for b in baselines if b.counted is not None]
    return in_rows(state.gate.rows, blocks, {str(case) for case in state.catalogue.counted()})


def prepare(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Append the item to a benchmark run.

    Raises ``pytest.UsageError`` for baselines or ceilings that cannot be used, and for a folder that
    ``--roofline-update`` cannot write, before anything has run.
    """
    state = session.config.stash[KEY]
    state.baselines  # noqa: B018  (read here, so that one that cannot be used stops the run)
    if state.options.update:
        try:
            state.store.verify_writable(_device(state))
        except OSError as error:
            raise pytest.UsageError(f"--roofline-update: {state.store.root} cannot be written: {error}") from error
    if state.device == "gpu":
        state.judge  # noqa: B018  (reads or measures the ceilings now)
    else:
        _compile_ahead(state, items)
    wanted = {str(case) for case in state.cases.parameters("timed")}
    state.selected = {str(parameter) for item in items if (parameter := _case(item)) is not None}
    state.complete = not state.options.cases and wanted <= state.selected  # one asked for by name misses no other
    if state.selected:
        items.append(CompletenessItem.from_parent(session, name=NAME))


def _device(state: State) -> str:
    """The folder that this run stores into."""
    if state.device != "gpu":
        return state.options.counted_for
    from pytest_roofline.timing import environment

    return device_key(environment())


def _compile_ahead(state: State, items: list[pytest.Item]) -> None:
    """Let the process that compiles begin, so that it works while this one counts."""
    for item in items:
        case = _case(item)
        if isinstance(case, Case):
            module = state.catalogue.operation(case.operation.name).module
            state.gate.compiler.ask(str(case), module, gpu=state.cases.compile_only(case))


def _case(item: pytest.Item) -> Any:
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("roofline_case") if callspec is not None else None
