"""Runs made by hand: complete in every field that a reader looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_roofline.counting import counts
from pytest_roofline.counting.compiled import resources
from pytest_roofline.counting.compiled.occupancy import occupancy
from pytest_roofline.counting.compiled.resources import Resources
from pytest_roofline.counting.compiled.sass import Mix
from pytest_roofline.counting.counts import Access, CaseCounts, Launch
from pytest_roofline.devices.record import load
from pytest_roofline.evidence import Environment
from pytest_roofline.ids import CaseId
from pytest_roofline.runs import (
    COUNTED,
    TIMED,
    Bound,
    Bracket,
    CaseRecord,
    Commit,
    Comparison,
    CountedFigures,
    KernelFacts,
    Moved,
    OperationFacts,
    RunRecord,
    Times,
    building,
)
from pytest_roofline.statistics import summarise

HERE = Environment("NVIDIA H200", "580", "13.0", "3.12", {"torch": "2.11"}, 132, 60 << 20, machine="abc")
BANDWIDTH = 4.8e12


def made_case(case_id: str, seconds: float, kind: str = "same", order: int = 0, peer: bool = False) -> CaseRecord:
    """A case that moves 48 MB: its bound on an H200 is 10 us."""
    summary = summarise([seconds * (1 + 1e-4 * k) for k in range(20)])
    bracket = Bracket(summary.seconds, summary.log_mean, summary.quantiles, 20, 20, 2, "graph_cold", 1e-9, 5e-7)
    bound = Bound(48e6 / BANDWIDTH, "device", "memory")
    return CaseRecord(
        id=case_id,
        dims=CaseId.parse(case_id).shape.dims,
        kernel=KernelFacts(order, best=order == 0, peer=peer),
        operations={"fp32": 6_000_000},
        traffic=(Moved("device", 24_000_000, 24_000_000),),
        intensity=0.125,
        times=Times(summary.seconds, "bracket", bracket),
        bytes_per_second=48e6 / summary.seconds,
        operations_per_second=6e6 / summary.seconds,
        bounds={"problem": bound, "algorithm": bound},
        regime="memory",
        fraction=bound.seconds / summary.seconds,
        verdict=Comparison("all", kind, "within_spread_of_baseline", f"{kind}, as made", 1.01, 0.99, 1.03, 0.02, 3),
    )


def made_run(cases: Mapping[str, float], **changes: Any) -> RunRecord:
    """A finished, timed run of an H200 with these times in seconds; ``changes`` replace its fields."""
    names = dict.fromkeys(case.split("/")[0] for case in cases)
    run = RunRecord(
        id="20261130T120000Z-00000001",
        started="2026-11-30T12:00:00+00:00",
        ended="2026-11-30T12:03:00+00:00",
        kind=TIMED,
        device=building.device("h200", "NVIDIA H200", load("h200")),
        version="0.1.0",
        environment=HERE,
        commit=Commit("a" * 40, "2026-11-30T11:00:00+00:00", "main"),
        toolchain={"python": "3.12.3"},
        operations={name: OperationFacts(f"what {name} computes", "graph_cold", ("cuda/plain",)) for name in names},
        cases=tuple(made_case(case, seconds) for case, seconds in cases.items()),
    )
    return replace(run, **changes)


def made_counted(cases: Mapping[str, int], **changes: Any) -> RunRecord:
    """A counted run for an A100: ``cases`` give the sectors of each one's load; its kernel has 32 registers."""
    run = RunRecord(
        id="20261130T120000Z-00000002",
        started="2026-11-30T12:00:00+00:00",
        ended="2026-11-30T12:03:00+00:00",
        kind=COUNTED,
        device=building.device("a100", "sm_80", load("a100_sxm4_80gb")),
        version="0.1.0",
        cases=tuple(_counted_case(case, sectors) for case, sectors in cases.items()),
    )
    return replace(run, **changes)


def _counted_case(case_id: str, sectors: int) -> CaseRecord:
    access = Access("global load", 4, 10, 320, sectors, 40, file="kernels/copy.cu", line=7)
    counted = CaseCounts((Launch("copy", (access,), {"fp32": 320}, 1280, 640),))
    code = Resources(
        "sm_80", "nvrtc 13.0", 256, 32, 0, 0, 1024, 0, 1, occupancy("sm_80", 256, 32, 1024), Mix({}, {}, 40), "c0de"
    )
    kernel = {"key": "copy", "compiler": code.compiler, **resources.to_plain(code)}
    plain = counts.to_plain(counted, places=True)
    return CaseRecord(
        id=case_id,
        dims=CaseId.parse(case_id).shape.dims,
        kernel=KernelFacts(0, best=True),
        verdict=Comparison("counts", "same", "counts_equal", "all counts are those stored"),
        counted=CountedFigures("sm_80", case_id, plain, (kernel,), "", ("copy",)),
    )
