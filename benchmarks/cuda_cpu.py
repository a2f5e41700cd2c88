"""How fast CUDA C++ runs on the CPU: best of five against the targets. Run it on an otherwise idle machine.

python benchmarks/cuda_cpu.py
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pytest_roofline.counting.cuda_cpu import checking, load
from pytest_roofline.counting.cuda_cpu.build import INSTRUMENTED, build_kernel

SOURCE = Path(__file__).parent.parent / "tests" / "counting" / "cuda_cpu" / "basics.cu"
ROUNDS = 5


def best(action: Callable[[], object]) -> float:
    """The shortest of five runs, in milliseconds, after one to warm up."""
    action()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def report(what: str, milliseconds: float, target: float) -> None:
    """One line of the table."""
    verdict = "" if milliseconds <= target else "  over the target"
    print(f"{what:45} {milliseconds:8.1f} ms   target {target:6.0f} ms{verdict}")


def main() -> None:
    """Measure and print."""
    rng = np.random.default_rng(0)
    module = load(SOURCE)
    n = 1_000_000
    a, b, c = (rng.random(n, dtype=np.float32) for _ in range(3))
    vector = (a, b, c, np.int32(n), np.int32(0))
    side = np.int32(65)
    matrices = tuple(rng.random((65, 65), dtype=np.float32) for _ in range(3))
    for mode, target in (("check", 100), ("count", 100), ("plain", 45)):
        with checking(mode):
            time_ms = best(lambda: module.function("vadd")((3907,), (256,), vector))
        report(f"vector_add, 1e6 elements, {mode}", time_ms, target)
    for tile, blocks in ((16, 5), (32, 3)):
        kernel = module.function(f"sgemm_tiled<{tile}>")
        with checking("check"):
            time_ms = best(lambda: kernel((blocks, blocks), (tile, tile), (*matrices, side, side, side)))  # noqa: B023
        report(f"matmul 65^3, tile {tile}, check", time_ms, 50)
    report("cache hit", best(lambda: build_kernel(SOURCE, "vadd", (), INSTRUMENTED)), 5)
    with tempfile.TemporaryDirectory() as folder:
        runtime = time.perf_counter()
        os.environ["PYTEST_ROOFLINE_CACHE"] = folder
        build_kernel(SOURCE, "aos", (), INSTRUMENTED)
        print(f"{'first build, with the runtime (once)':45} {1e3 * (time.perf_counter() - runtime):8.1f} ms")
        defines = iter(range(100))
        compile_ms = best(lambda: build_kernel(SOURCE, "vadd", (f"-DROUND={next(defines)}",), INSTRUMENTED))
        report("compile a kernel", compile_ms, 1500)


if __name__ == "__main__":
    main()
