"""A test of its own at the end of a benchmark run: does every baseline belong to a case, and did every case run?

Without a GPU also: is every kernel that is timed launched by a case that is counted?
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pytest_roofline.baselines import Baseline, device_key
from pytest_roofline.contract import Case
from pytest_roofline.state import KEY, State

NAME = "roofline-baselines"


class IncompleteError(Exception):
    """Baselines and cases do not match; the message names every one."""


class CompletenessItem(pytest.Item):
    """Fails for orphan baselines, for kernels that are timed and never counted, and in a complete run for cases that a
    baseline holds but that did not run."""

    def runtest(self) -> None:
        """Compare the stored case ids with the catalogue and with this run."""
        state = self.config.stash[KEY]
        baselines = state.baselines
        problems = [f"orphan: {text}" for text in orphans(state, baselines)]
        if problems:
            problems.append(
                "pytest-roofline baseline forget CASE drops what is stored, baseline rename OLD NEW moves it"
            )
        if state.options.timing and state.device == "gpu" and state.complete:
            problems += [f"missing: {case} is in the baseline of this GPU, but did not run" for case in missing(state)]
            if not state.rows:
                problems.append("no case was timed")
        if state.options.timing and state.device == "cpu" and state.complete and not state.options.update:
            problems += [
                f"missing: {case} has stored counts, but was not counted" for case in uncounted(state, baselines)
            ]
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


def orphans(state: State, baselines: Iterable[Baseline]) -> list[str]:
    """Stored cases that no operation times, or counts, any more."""
    known = {str(case) for case in state.catalogue.timed(full=True)}
    countable = {str(case) for case in (*state.catalogue.counted(), *state.catalogue.compiled(full=True))}
    found = []
    for b in baselines:
        path = state.store.path(b.device, b.operation)
        found += [f"{case} in {path} is no timed case" for case in b.case_ids() - known]
        found += [
            f"{case} in {path} is no counted case"
            for case in (b.counted.cases if b.counted else ())
            if case not in countable
        ]
    return sorted(found)


def missing(state: State) -> list[str]:
    """Cases of this effort that the baseline of this GPU holds, but that did not run here."""
    from pytest_roofline.timing import environment as here

    environment = here()
    expected = {str(case) for case in state.catalogue.timed(full=state.options.effort == "full")}
    stored = {case for b in state.store.load_all(device_key(environment)) for case in b.measured}
    return sorted((stored & expected) - set(state.evidence))


def uncounted(state: State, baselines: Iterable[Baseline]) -> list[str]:
    """Cases with stored counts that were not counted here, though this machine can count others of their language.

    With quick effort most cases are not meant to be.
    """
    if state.options.effort == "quick":
        return []
    counted = {str(row.case) for row in state.gate.rows} | state.gate.unknown
    stored = {case for b in baselines if b.counted for case in b.counted.cases}
    backends = {row.case.kernel.backend for row in state.gate.rows}
    return sorted(case for case in stored - counted if case.split("/")[1] in backends)


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
    wanted = {str(case) for case in state.parameters("timed")}
    collected = {str(parameter) for item in items if (parameter := _case(item)) is not None}
    state.complete = not state.options.cases and wanted <= collected  # one case asked for by name misses no other
    if collected:
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
            state.gate.compiler.ask(str(case), module, gpu=state.compile_only(case))


def _case(item: pytest.Item) -> Any:
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("roofline_case") if callspec is not None else None
