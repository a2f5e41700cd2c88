"""A run and its history as pages show them, and how a test reads a page in a browser."""

from __future__ import annotations

import urllib.parse
from dataclasses import replace
from typing import Any

from pytest_roofline.counting.counts import Access, CaseCounts, Launch, to_plain
from pytest_roofline.reports.series import RunPoint, Series
from pytest_roofline.runs.record import CountedFigures, OperationFacts, PublishedFigure, RunRecord
from tests.runs.made import made_case, made_run

ATOMIC, TWO_STAGE = "sum/cuda/atomic/f32/4194304", "sum/cuda/two_stage/f32/4194304"
NCU = {
    "kernel": "sum_atomic",
    "dram_share": 4.0,
    "stall.long_scoreboard": 60.0,
    "occupancy": 80.0,
    "eligible_warps": 0.1,
    "local_requests": 0.0,
}


def sample() -> RunRecord:
    """Two kernels and a library routine on one problem, another operation, and some of all that a case can hold."""
    counts = CaseCounts((Launch("sum_atomic", (Access("global atomic", 4, 32, 1024, 1024, 128),), {}, 4096, 4),))
    kernel = {
        "key": "atomic.cu:sum_atomic<float> threads=256",
        "compiler": "nvrtc 13.0",
        "threads": 256,
        "registers": 16,
    }
    kernel |= {
        "spills": 0,
        "shared": 0,
        "dynamic": 0,
        "occupancy": 1.0,
        "limiter": "warps",
        "mix": {"global load 4": 1},
    }
    counted = CountedFigures("sm_80", "sum/cuda/atomic/f32/1024", to_plain(counts, places=False), (kernel,))
    published = PublishedFigure("a100_pcie_40gb", "GPU time", 13.9, "us", "NVIDIA/cccl PR #9101", 13.9e-6, 0.19)
    cases = (
        replace(made_case(ATOMIC, 7e-3, "regression"), counted=counted, ncu=NCU),
        made_case(TWO_STAGE, 12e-6, order=1),
        replace(made_case("sum/torch/sum/f32/4194304", 20e-6, "information", peer=True), published=(published,)),
        made_case("copy/triton/plain/f32/4194304", 30e-6, "unresolved"),
    )
    facts = {n: OperationFacts(f"what {n} computes", "graph_cold", ()) for n in ("sum", "copy")}
    return replace(made_run({}), cases=cases, operations=facts)


def history(run: RunRecord) -> Series:
    """Six runs; the atomic sum became slower in the fourth."""
    points = tuple(RunPoint(f"run-{i}", f"2026-11-{i + 1:02}T02:00:00+00:00", f"{i}" * 40) for i in range(6))
    seconds: dict[str, tuple[float | None, ...]] = {case.id: (1e-5, None, 1e-5, 1e-5, 1e-5, 1e-5) for case in run.cases}
    seconds[ATOMIC] = (5e-3, 5.01e-3, 5e-3, 7e-3, 7.01e-3, 7e-3)
    return Series(points, seconds, {ATOMIC: (3,)})


def text(driver: Any, selector: str = "main") -> str:
    return str(driver.find_element("css selector", selector).text)


def all_text(driver: Any, selector: str) -> list[str]:
    return [element.text for element in driver.find_elements("css selector", selector)]


def settle(driver: Any) -> None:
    """Wait until the page has drawn what was asked of it: the address changes first, the view a task later."""
    driver.execute_async_script(
        "const done = arguments[0]; setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def go(driver: Any, view: str) -> None:
    driver.execute_script("location.hash = arguments[0]", view)
    settle(driver)


def case_view(case: str) -> str:
    return f"#/case/{urllib.parse.quote(case, safe='')}"
