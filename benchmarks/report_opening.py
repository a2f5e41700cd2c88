"""How large a report is and how long a browser needs to open it; needs Jinja2, Selenium and Chromium.

    python benchmarks/report_opening.py                          # 2000 cases over 200 runs, made up
    python benchmarks/report_opening.py --cases 400 --runs 50
    python benchmarks/report_opening.py --keep report.html       # keeps the page

Prints the size, the time to write it, and per view the time from opening the file until it is drawn, best of five.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pytest_roofline.counting import counts  # noqa: E402
from pytest_roofline.reports.html import render  # noqa: E402
from pytest_roofline.reports.series import RunPoint, Series  # noqa: E402
from pytest_roofline.runs.record import CaseRecord, CountedFigures, KernelFacts  # noqa: E402
from tests.reports.browser import open_browser  # noqa: E402
from tests.runs.made import made_case, made_run  # noqa: E402

# Milliseconds since the navigation began: when the scripts were done, and when a frame after that had been painted. The
# second holds the way of the question to the browser as well.
READY = """
const done = arguments[0], scripts = performance.getEntriesByType("navigation")[0].domInteractive;
requestAnimationFrame(() => requestAnimationFrame(() => done([scripts, performance.now()])));
"""
VIEWS = {
    "overview": "#/",
    "roofline": "#/roofline",
    "kernels": "#/kernels",
    "history": "#/history",
    "A100": "#/devices",
}


def made_cases(count: int) -> Iterator[CaseRecord]:
    """Cases of 40 operations with 10 kernels each, all with counts, as a large catalogue has them."""
    draw = random.Random(0)
    for i in range(count):
        operation, kernel, size = i // 10 % 40, i % 10, i // 400
        backend = ("cuda", "triton", "torch")[kernel % 3]
        name = f"operation_{operation}/{backend}/variant_{kernel}/f32/{1 << 20 << size}"
        case = made_case(
            name, 10e-6 / draw.uniform(0.02, 0.98), draw.choice(("same", "same", "new", "regression")), kernel
        )
        access = counts.Access("global load", 4, 1000, 32000, draw.choice((4000, 5000, 32000)), 4000)
        counted = counts.CaseCounts((counts.Launch(f"kernel_{kernel}", (access,), {}, 128000, 0),))
        compiled = {"key": f"variant_{kernel}.cu:kernel threads=256", "compiler": "nvrtc 13.0, ptxas V13.0.88"}
        compiled |= {"threads": 256, "registers": 40, "spills": 0, "shared": 0, "dynamic": 0, "occupancy": 0.75}
        compiled |= {"limiter": "registers", "mix": {"global load 16": 4, "global store 16": 1, "instructions": 80}}
        figures = CountedFigures("sm_80", name, counts.to_plain(counted, places=False), (compiled,))
        yield replace(case, kernel=KernelFacts(kernel, kernel == 1, backend == "torch"), counted=figures)


def made_history(cases: list[CaseRecord], runs: int) -> Series:
    """Every case with noise of half a percent; one in five changed its level once, by up to 30 %."""
    draw = random.Random(1)
    points = [
        RunPoint(f"run-{i:04}", f"2026-{1 + i // 28 % 12:02}-{1 + i % 28:02}T02:00:00+00:00", f"{i:040x}"[::-1])
        for i in range(runs)
    ]
    seconds, changes = {}, {}
    for case in cases:
        assert case.seconds is not None
        place = draw.randrange(runs // 4, runs - runs // 4) if draw.random() < 0.2 else runs
        factor = draw.uniform(0.75, 1.3)
        values = [case.seconds * draw.gauss(1, 0.005) * (factor if i < place else 1) for i in range(runs)]
        seconds[case.id] = tuple(values)
        if place < runs:
            changes[case.id] = (place,)
    return Series(tuple(points), seconds, changes)


def main() -> None:
    """Make, write, open, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    cases = list(made_cases(options.cases))
    run = replace(made_run({}), cases=tuple(cases))
    history = made_history(cases, options.runs)
    begin = time.perf_counter()
    page = render(run, history)
    megabytes, seconds = len(page.encode()) / 1e6, time.perf_counter() - begin
    print(f"{options.cases} cases, {options.runs} runs: {megabytes:.2f} MB, written in {seconds:.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        path = options.keep or Path(folder) / "report.html"
        path.write_text(page, encoding="utf-8")
        views = {**VIEWS, "one kernel": f"#/case/{quote(cases[0].id, safe='')}"}
        with open_browser() as browser:
            for name, place in views.items():
                times = []
                for _ in range(5):
                    browser.get("about:blank")
                    browser.get(path.resolve().as_uri() + place)
                    times.append(browser.execute_async_script(READY))
                drawn, painted = min(times, key=lambda pair: pair[1])
                print(f"  {name}: drawn after {drawn:.0f} ms, painted after {painted:.0f} ms")


if __name__ == "__main__":
    main()
