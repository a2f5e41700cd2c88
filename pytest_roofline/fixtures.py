"""The fixtures a suite uses. They order work from the worker and turn evidence into pytest outcomes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_roofline.cases import Parameter
from pytest_roofline.checking.attempts import Attempts
from pytest_roofline.checking.values import classes
from pytest_roofline.contract import Case, Role
from pytest_roofline.discovery import BrokenOperation, Drawn
from pytest_roofline.evidence import CaseSpec, Evidence, Outcome
from pytest_roofline.options import PROFILES
from pytest_roofline.replay import replay
from pytest_roofline.retest.choice import FINAL
from pytest_roofline.retest.deferral import CASE
from pytest_roofline.state import KEY, State
from pytest_roofline.verdict import Kind


class KernelFailedError(AssertionError):
    """A kernel failed a check; the message says how and how to see it again."""

    def __init__(self, message: str, evidence: Evidence, spec: CaseSpec) -> None:
        super().__init__(message)
        self.evidence = evidence
        self.spec = spec


@pytest.fixture
def roofline_case(request: pytest.FixtureRequest) -> Parameter:
    """The case at hand; an operation file that could not be loaded fails here, by name."""
    parameter: Parameter = request.param
    if isinstance(parameter, BrokenOperation):
        pytest.fail(f"{parameter.path} could not be loaded:\n{parameter.error}", pytrace=False)
    return parameter


@pytest.fixture
def roofline_check(request: pytest.FixtureRequest) -> Callable[[Case | Drawn], None]:
    """Check a case, or a kernel on hypothesis' shapes and values."""
    state = request.config.stash[KEY]

    def check(case: Case | Drawn) -> None:
        with _told_once():
            if isinstance(case, Drawn):
                _check_drawn(state, case)
            else:
                for spec in _orders(state, case):
                    _accept(state.run(spec), spec)

    return check


@pytest.fixture
def roofline_benchmark(request: pytest.FixtureRequest, benchmark: Any) -> Callable[[Case], None]:
    """Check a case, then time, bound and compare it under ``--benchmark-only``; without a GPU count and compile it.

    Without ``--benchmark-only`` run it once.
    """
    state = request.config.stash[KEY]

    def run(case: Case) -> None:
        if state.options.timing and state.device == "cpu":
            benchmark.disabled = True
            _count(state, case, benchmark)
            return
        benchmark.group = benchmark.group or f"{case.operation.name}/{case.dtype}/{case.shape}"
        timing = state.options.timing and state.device == "gpu" and not benchmark.disabled
        spec = state.spec(case, time=timing)
        if not timing:
            benchmark.disabled = True
        with _told_once(benchmark), _kept(state, case):
            evidence = _timed(state, spec) if timing else benchmark.pedantic(lambda: _accept(state.run(spec), spec))
        if timing:
            _record(state, case, evidence, benchmark, request.node)

    return run


def _count(state: State, case: Case, benchmark: Any) -> None:
    """Count a case and what its kernels compile to; anything that costs time fails the test."""
    gate, spec = state.gate, state.spec(case, count=True)
    gate.compiler.ask(spec.case, spec.module, gpu=spec.compile_only)
    if state.old_counts is not None:
        state.old_counts.ask(spec)
    with _told_once(benchmark), _kept(state, case):
        evidence = benchmark.pedantic(lambda: _accept(state.run(spec), spec))
    try:
        before = state.old_counts.block(spec, state.run) if state.old_counts is not None else None
        row = gate.judge(case, evidence.counts, before)
    except RuntimeError as error:
        state.keeper.failed(case, Outcome.ERROR.value, str(error))
        pytest.fail(f"{case}: {error}", pytrace=False)
    if spec.compile_only and row.code.missing:
        pytest.skip(f"only compiled, and that is not possible here: {row.code.missing}")
    state.keeper.counted(row)
    if row.verdict.fails(strict=state.options.strict):
        pytest.fail(f"{case}: {row.verdict.kind.value}: {row.verdict.sentence}", pytrace=False)


@contextlib.contextmanager
def _told_once(benchmark: Any = None) -> Iterator[None]:
    """A failing kernel fails the test with its message alone, and its benchmark is not saved."""
    try:
        yield
    except KernelFailedError as failure:
        if benchmark is not None:
            benchmark.has_error = True
        # Not chained: pytest would print the cause, the same message, before it.
        raise pytest.fail.Exception(str(failure), pytrace=False) from None


@contextlib.contextmanager
def _kept(state: State, case: Case) -> Iterator[None]:
    """A case of a benchmark run that fails its check stands in the run's record as well."""
    try:
        yield
    except KernelFailedError as failure:
        if state.options.timing:
            state.keeper.failed(case, failure.evidence.outcome.value, failure.evidence.detail)
        raise


def _orders(state: State, case: Case) -> list[CaseSpec]:
    """One order per value class that a listed case is checked with, or the one that ``--roofline-case`` names."""
    wanted = [state.spec(case, r.values, r.seed) for r in state.options.cases if r.case == str(case)]
    return wanted or [state.spec(case)]


def _check_drawn(state: State, drawn: Drawn) -> None:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    operation, kernel, dtype = drawn.operation, drawn.kernel, drawn.dtype
    inputs = [a.element(dtype) for a in operation.arguments if a.role is not Role.OUT]
    values = tuple(dict.fromkeys(name for item in inputs for name in classes(item)))
    attempts = Attempts(state.run)

    @settings(
        max_examples=PROFILES[state.options.profile],
        derandomize=state.options.profile == "ci",
        deadline=None,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(shape=operation.shapes.drawn(kernel.tile), values=st.sampled_from(values), seed=st.integers(0, 2**16 - 1))
    def agrees_with_its_reference(shape: Any, values: str, seed: int) -> None:
        spec = state.spec(Case(operation, kernel, dtype, shape), values, seed)
        _accept(attempts.run(spec), spec)

    try:
        agrees_with_its_reference()
    except KernelFailedError as failure:
        spec, evidence = attempts.settle(failure.spec, failure.evidence)
        _accept(evidence, spec)


def _timed(state: State, spec: CaseSpec) -> Evidence:
    """Evidence of a timed case; a throttled GPU is a verdict, not a wrong kernel."""
    evidence = state.run(spec)
    if evidence.outcome is Outcome.UNAVAILABLE:
        state.unavailable[spec.case] = evidence.detail
    return evidence if evidence.outcome is Outcome.INVALID else _accept(evidence, spec)


def _accept(evidence: Evidence, spec: CaseSpec) -> Evidence:
    """Evidence that everything is right; raises or skips otherwise."""
    if evidence.outcome is Outcome.OK:
        return evidence
    if evidence.outcome is Outcome.UNAVAILABLE:
        pytest.skip(evidence.detail)
    raise KernelFailedError(
        f"{spec.case} with {spec.values} values, seed {spec.seed}: {evidence.outcome.value}\n"
        f"{evidence.detail}\n"
        f"reproduce: pytest '--roofline-case={spec.line()}'",
        evidence,
        spec,
    )


def _record(state: State, case: Case, evidence: Evidence, benchmark: Any, item: pytest.Item) -> None:
    """Judge a timed case and hand its samples to pytest-benchmark; a failing verdict fails the test, unless the end of
    the run may still change it."""
    row = state.judge.row(case, evidence)
    state.rows.append(row)
    state.evidence[str(case)] = evidence
    state.keeper.timed(row, evidence)
    trustworthy = row.verdict.kind not in (Kind.INVALID, Kind.IMPOSSIBLE)
    if evidence.timing is not None and trustworthy:
        benchmark.extra_info["roofline"] = state.told_benchmark[str(case)] = row.plain()
        replay(benchmark, evidence.timing.samples)
    else:
        benchmark.has_error = True  # keeps pytest-benchmark from saving it
    if not case.kernel.peer and row.verdict.kind not in FINAL:
        item.stash[CASE] = str(case)
    elif row.verdict.fails(strict=state.options.strict):
        pytest.fail(f"{case}: {row.verdict.kind.value}: {row.verdict.sentence}", pytrace=False)
