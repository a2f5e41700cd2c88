"""Count one case on the CPU: run it once with all counters on, and see that its result is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_roofline.checking.check import expect, prepare
from pytest_roofline.contract import Case
from pytest_roofline.counting.counts import Access, CaseCounts, Launch


def count(case: Case, launcher: Callable[..., None], values: str, seed: int) -> CaseCounts:
    """The counts of one execution. Raises ``WrongResultError`` for a wrong result, and what the launcher raises."""
    prepared = prepare(case, launcher, "cpu", values, seed)
    counts = _triton(prepared) if case.kernel.backend == "triton" else _cuda(prepared)
    expect(prepared).verify(prepared)
    return counts


def _cuda(prepared: Any) -> CaseCounts:
    from pytest_roofline.counting import cuda_cpu

    with cuda_cpu.checking("count") as session:
        prepared.launch()
    return CaseCounts(tuple(map(_cuda_launch, session.launches)))


def _cuda_launch(record: Any) -> Launch:
    accesses = tuple(
        Access(
            line.kind,
            line.size,
            line.requests,
            line.lanes,
            line.sectors,
            line.ideal_sectors,
            line.wavefronts,
            line.ideal_wavefronts,
            line.file,
            line.line,
        )
        for line in record.lines
    )
    read, written = sum(record.unique_read_bytes.values()), sum(record.unique_written_bytes.values())
    return Launch(record.kernel, accesses, dict(record.flops), read, written)


def _triton(prepared: Any) -> CaseCounts:
    from pytest_roofline.counting import triton_cpu

    with triton_cpu.checking(races=False, counts=True) as report:
        prepared.launch()
    return CaseCounts(tuple(map(_triton_launch, report.launches)), layout_free=True)


def _triton_launch(record: Any) -> Launch:
    accesses = tuple(
        Access(
            f"global {line.action}",
            line.size,
            line.requests,
            line.lanes,
            line.sectors,
            line.ideal_sectors,
            file=line.file,
            line=line.line,
        )
        for line in record.lines
    )
    return Launch(record.kernel, accesses, {}, record.loads.unique_bytes, record.stores.unique_bytes)
