"""Time one checked case: rotated copies of its arguments, a bracket plan, and a look at the outputs afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_roofline import timing
from pytest_roofline.checking.buffers import GuardedBuffer, guarded, workspaces
from pytest_roofline.checking.check import Expectation, Launcher, Prepared, expect, prepare
from pytest_roofline.contract import Case, Protocol, Role
from pytest_roofline.evidence import CaseSpec, Evidence, Outcome
from pytest_roofline.verdict import Reason


def time_case(case: Case, launcher: Launcher, spec: CaseSpec) -> Evidence:
    """Samples of a case that has passed its check.

    All copies hold the same data, so the outputs of the first and of the last copy are verified against the exact
    result after timing; raises ``checking.check.WrongResultError`` when timing has found a kernel in a state the check
    did not. What was measured under a throttled GPU or a stalled host comes back as ``Outcome.INVALID`` without
    samples.
    """
    try:
        session = timing.open_session()
    except timing.TimingUnavailable as state:
        return Evidence(case=str(case), outcome=Outcome.UNAVAILABLE, detail=str(state))
    first = prepare(case, launcher, spec.device, spec.values, spec.seed)
    expectation = expect(first)
    estimate = session.estimate(first.call, case.operation.protocol)
    cold = case.operation.protocol is Protocol.GRAPH_COLD
    wanted = session.copies(first.footprint, estimate) if cold else 1
    copies = [first, *(another(first, spec.device) for _ in range(wanted - 1))]
    for copy in copies:
        copy.reset()
    try:
        found = session.measure(
            [copy.call for copy in copies],
            dirty=dirty_share(first),
            protocol=case.operation.protocol,
            restore=restorer(copies),
            effort=spec.effort,
            may_allocate=case.kernel.peer,  # a library routine may take scratch memory from its pool
            estimate=estimate,
            slowdown=spec.slowdown,
        )
    except (timing.Throttled, timing.HoldExpired) as state:
        return unusable(case, state)
    _still_right(copies, expectation)
    return Evidence(case=str(case), outcome=Outcome.OK, timing=found, environment=timing.environment())


def unusable(case: Case, state: Exception) -> Evidence:
    """The evidence of a case whose every measurement was spoilt by the machine."""
    reason = Reason.THROTTLED if isinstance(state, timing.Throttled) else Reason.HOST_STALLED
    return Evidence(str(case), Outcome.INVALID, str(state), environment=timing.environment(), reason=reason.value)


def another(first: Prepared, device: str) -> Prepared:
    """Another set of buffers with the same layout and inputs."""
    case = first.case
    buffers: list[GuardedBuffer] = []
    for tag, argument in enumerate(case.operation.arguments):
        buffer = guarded(argument, case, device, tag)
        if argument.role is not Role.OUT:
            buffer.view.copy_(first.initial[argument.name])
        buffers.append(buffer)
    return Prepared(case, first.launcher, buffers, workspaces(case, device), first.initial)


def restorer(copies: Sequence[Prepared]) -> Callable[[], None] | None:
    """Brings INOUT arguments back between brackets, so that values never drift; ``None`` where nothing can drift."""
    if all(a.role is not Role.INOUT for a in copies[0].case.operation.arguments):
        return None

    def restore() -> None:
        for copy in copies:
            copy.restore()

    return restore


def dirty_share(prepared: Prepared) -> float:
    """Share of the bytes an execution touches that it writes."""
    written = [
        b for a, b in zip(prepared.case.operation.arguments, prepared.buffers, strict=True) if a.role is not Role.IN
    ]
    total = prepared.footprint
    return sum(b.view.numel() * b.item.itemsize for b in (*written, *prepared.scratch)) / total if total else 0.0


def _still_right(copies: list[Prepared], expectation: Expectation) -> None:
    """Poison the outputs, launch once more, and compare: a timed kernel must still compute."""
    import torch

    for copy in {id(c): c for c in (copies[0], copies[-1])}.values():
        copy.reset()
        copy.launch()
        torch.cuda.synchronize()
        expectation.verify(copy)
