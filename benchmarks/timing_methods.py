"""Four ways to time one kernel, side by side, on the GPU at hand.

    python benchmarks/timing_methods.py

For vector_add and sum from 1 Ki to 1e8 elements: the graph bracket over rotated buffers, the bracket minus the gap
calibrated on other kernels, CUPTI's kernel duration with a flushed L2 in the same process, and triton's do_bench. The
bracket minus the gap must lie within 5 % or 0.2 us of CUPTI, whichever is larger; the last column says whether it does.
"""

from __future__ import annotations

import pathlib
import statistics
import sys
from collections.abc import Callable, Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import torch
import triton

from kernels_triton.vector_add import vector_add
from pytest_roofline.timing import cupti, environment, open_session

SIZES = (1 << 10, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 23, 1 << 24, 100_000_000)


def kernels(n: int, copies: int) -> Iterator[tuple[str, float, list[Callable[[], object]]]]:
    """The two kernels on ``copies`` rotated sets of ``n`` floats, with the share of bytes they write."""
    x, y = (torch.randn(copies, n, device="cuda") for _ in range(2))
    total = torch.empty(copies, 1, device="cuda")
    yield "vector_add", 0.5, [lambda i=i: vector_add(x[i], y[i], block=512, num_warps=4) for i in range(copies)]
    yield "sum", 0.0, [lambda i=i: torch.sum(x[i], dim=0, keepdim=True, out=total[i]) for i in range(copies)]


def main() -> None:
    """Print the table."""
    session = open_session()
    here = environment()
    print(f"{here.device}, driver {here.driver}, CUDA {here.cuda}, torch {here.packages['torch']}")
    print(f"tick {session.tick * 1e9:.0f} ns, empty launch {session.launch_floor * 1e6:.3f} us", end=", ")
    print(f"gap calibrated on fill and scale {session.gap * 1e6:.3f} us")
    print("gap per calibration kernel (us):", {k: round(v * 1e6, 3) for k, v in session.gaps.items()})
    print(f"{'kernel':10} {'elements':>10} {'bracket':>8} {'-gap':>8} {'CUPTI':>8} {'do_bench':>8} {'off':>7}  us")
    for n in SIZES:
        bytes_per_set = 8 * n
        first = next(kernels(n, 1))[2][0]
        copies = session.copies(bytes_per_set, session.estimate(first))
        for name, dirty, calls in kernels(n, copies):
            timing = session.measure(calls, dirty=dirty, may_allocate=True)
            bracket = statistics.median(timing.samples)
            alone = cupti.kernel_seconds(calls, lambda d=dirty: session.tools.flush(d))
            bench = triton.testing.do_bench(calls[0], return_mode="median") * 1e-3
            if alone is None:
                print(f"{name:10} {n:>10} CUPTI recorded nothing")
                continue
            off = bracket - timing.gap - alone
            verdict = "ok" if abs(off) <= max(0.05 * alone, 0.2e-6) else "MISSES"
            row = (bracket, bracket - timing.gap, alone, bench, off)
            print(
                f"{name:10} {n:>10} " + " ".join(f"{1e6 * v:8.3f}" for v in row) + f"  {verdict} lin {timing.linearity}"
            )


if __name__ == "__main__":
    main()
