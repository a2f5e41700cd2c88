"""Four ways to time one kernel, side by side, on the GPU at hand.

    python benchmarks/timing_methods.py

For vector_add and sum in both languages from 1 Ki to 1e8 elements: the graph bracket over rotated buffers, the bracket
minus the gap calibrated on other kernels, CUPTI's kernel duration with a flushed L2 in the same process, and triton's
do_bench. The bracket minus the gap must lie within 5 % or 0.2 us of CUPTI, whichever is larger.
"""

from __future__ import annotations

import functools
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import triton  # noqa: E402

from pytest_roofline.checking.check import load_launcher, prepare  # noqa: E402
from pytest_roofline.devices import identify  # noqa: E402
from pytest_roofline.discovery import Catalogue, discover  # noqa: E402
from pytest_roofline.timing import Session, environment, open_session  # noqa: E402
from pytest_roofline.timing.session import Job  # noqa: E402
from pytest_roofline.timing.timed_case import another, dirty_share  # noqa: E402

SIZES = (1 << 10, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 23, 1 << 24, 100_000_000)
KERNELS = (
    "vector_add/triton/block_512",
    "vector_add/cuda/vectorised",
    "sum/triton/two_stage",
    "sum/cuda/grid_stride",
)


def main() -> None:
    """Print the table."""
    if problem := identify.why_none():
        raise SystemExit(f"timing_methods needs a GPU: {problem}")
    session, here, catalogue = open_session(), environment(), discover(ROOT, ["suite/operations"])
    print(f"{here.device}, driver {here.driver}, CUDA {here.cuda}, torch {here.packages['torch']}")
    print(f"tick {session.tick * 1e9:.0f} ns, empty launch {session.launch_floor * 1e6:.3f} us")
    overhead = session.overhead
    parts = (1e6 * overhead.ends, 1e6 * overhead.node, 1e6 * overhead.step)
    print(
        "a bracket holds {:.2f} us once, {:.3f} us per execution, {:.3f} us between two kernels of one".format(*parts)
    )
    found = (f"{c.name} {c.bracket * 1e6:.3f}/{c.alone * 1e6:.3f}" for c in session.comparisons)
    print("calibrated on (bracket/CUPTI):", ", ".join(found))
    print(f"{'kernel':27} {'elements':>9} {'bracket':>8} {'-gap':>8} {'CUPTI':>8} {'do_bench':>8} {'off':>8}  (us)")
    for kernel in KERNELS:
        for elements in SIZES:
            print(row(session, catalogue, kernel, elements), flush=True)


def row(session: Session, catalogue: Catalogue, kernel: str, elements: int) -> str:
    """One line of the table."""
    case = catalogue.case(f"{kernel}/f32/{elements}")
    first = prepare(case, load_launcher(case.kernel.launcher), "cuda", "random", 0)
    estimate = session.estimate(first.call)
    wanted = session.copies(first.footprint, estimate)
    calls = [first.call, *(another(first, "cuda").call for _ in range(wanted - 1))]
    dirty = dirty_share(first)
    timing = session.measure(calls, dirty=dirty, estimate=estimate)
    bracket = statistics.median(timing.samples)
    alone = session.kernel(Job(calls, functools.partial(session.tools.flush, dirty)))
    if alone is None:
        return f"{kernel:27} {elements:>9} CUPTI recorded nothing"
    bench = triton.testing.do_bench(calls[0], return_mode="median") * 1e-3
    corrected = bracket - session.overhead.gap(timing.launches)
    verdict = "ok" if abs(corrected - alone) <= max(0.05 * alone, 0.2e-6) else "MISSES"
    numbers = " ".join(f"{1e6 * v:8.3f}" for v in (bracket, corrected, alone, bench, corrected - alone))
    linear = "-" if timing.linearity is None else f"{timing.linearity:.3f}"
    return f"{kernel:27} {elements:>9} {numbers}  {verdict}, linear {linear}"


if __name__ == "__main__":
    main()
