"""Time one case beside the same case of another version of the project, on the same buffers."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from pytest_roofline import timing
from pytest_roofline.against.kernels import NoOldKernel, old_kernel
from pytest_roofline.checking.buffers import workspaces
from pytest_roofline.checking.check import Launcher, Prepared, prepare
from pytest_roofline.contract import Buffer, Case, Protocol
from pytest_roofline.evidence import CaseSpec, Evidence, Outcome, Pair
from pytest_roofline.timing import pairing
from pytest_roofline.timing.session import Job, graphed
from pytest_roofline.timing.timed_case import another, dirty_share, restorer, unusable
from pytest_roofline.verdict import Reason


def time_pair(case: Case, launcher: Launcher, spec: CaseSpec) -> Evidence:
    """Blocks of ``case`` beside the kernel of the same id below ``spec.against``.

    Both launch on the same arguments; each has the options and scalars of its own version. Evidence without
    a pair says in ``reason`` why there is none: no such kernel, one that does not run, a throttled GPU. Nothing is
    checked here: the run that asks has checked and timed this case, and an old kernel need not be right to be slower.
    """
    try:
        session = timing.open_session()
    except timing.TimingUnavailable as state:
        return Evidence(case=str(case), outcome=Outcome.UNAVAILABLE, detail=str(state))
    protocol = case.operation.protocol
    first = prepare(case, launcher, spec.device, spec.values, spec.seed)
    try:
        old_case, old_launcher = old_kernel(case, spec.module, spec.against)
        old = beside(first, old_case, old_launcher, spec.device)
        session.estimate(old.call, protocol)  # compiles it, and shows whether it runs
    except NoOldKernel as missing:
        return Evidence(str(case), Outcome.INVALID, str(missing), reason=Reason.NO_OLD_KERNEL.value)
    except Exception as error:  # whatever the old version raises is its own failure
        detail = f"the old kernel does not run: {type(error).__name__}: {error}"
        return Evidence(str(case), Outcome.INVALID, detail, reason=Reason.OLD_FAILS.value)
    estimate = session.estimate(first.call, protocol)
    if not (spec.pair_unchanged or spec.slowdown):
        unchanged = _same_code(old, first, case)
        if unchanged is not None:
            return Evidence(str(case), Outcome.OK, environment=timing.environment(), pair=unchanged)
    wanted = session.copies(first.footprint, estimate) if protocol is Protocol.GRAPH_COLD else 1
    news = [first, *(another(first, spec.device) for _ in range(wanted - 1))]
    olds = [old, *(beside(copy, old_case, old_launcher, spec.device) for copy in news[1:])]
    for copy in (*news, *olds):
        copy.reset()
    try:
        pair = pairing.measure(
            session,
            job(session, olds, case),
            job(session, news, case),
            protocol=protocol,
            effort=spec.effort,
            estimate=estimate,
            slowdown=spec.slowdown,
        )
    except (timing.Throttled, timing.HoldExpired) as state:
        return unusable(case, state)
    return Evidence(str(case), Outcome.OK, environment=timing.environment(), pair=pair)


def _same_code(old: Prepared, new: Prepared, case: Case) -> Pair | None:
    """A pair without differences where both run the same code in the same way; ``None`` where they may differ."""
    if not graphed(case.operation.protocol):
        return None
    old_code, new_code = (pairing.code_of(Job([p.call], may_allocate=case.kernel.peer)) for p in (old, new))
    if old_code is None or old_code != new_code:
        return None
    return Pair((), 0.0, 0.0, 1, case.operation.protocol.value, old_code, new_code)


def beside(new: Prepared, old_case: Case, launcher: Launcher, device: str) -> Prepared:
    """The old case on the new one's arguments, and on its workspace where both want the same: where a buffer lies in
    memory can make a percent. Else it has one of its own."""
    shared = _wanted(new.case) == _wanted(old_case)
    scratch = new.scratch if shared else workspaces(old_case, device)
    return Prepared(old_case, launcher, new.buffers, scratch, new.initial)


def _wanted(case: Case) -> tuple[Buffer, ...]:
    return case.kernel.workspace(case.shape, case.dtype) if case.kernel.workspace else ()


def job(session: timing.Session, copies: Sequence[Prepared], case: Case) -> Job:
    """What is timed of a case that lies in memory so many times."""
    cold = case.operation.protocol is Protocol.GRAPH_COLD
    flush = functools.partial(session.tools.flush, dirty_share(copies[0])) if cold else None
    calls = [copy.call for copy in copies]
    return Job(calls, flush, restorer(copies), may_allocate=case.kernel.peer)
