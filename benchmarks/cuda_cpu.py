"""How fast CUDA C++ runs on the CPU: best of five against the targets. Run it on an otherwise idle machine.

python benchmarks/cuda_cpu.py

Beside the elapsed time stands what the processor worked in that run, compilers included: on a busy machine the former
grows and the latter hardly does.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_roofline.counting.cuda_cpu import Function, checking, load  # noqa: E402
from pytest_roofline.counting.cuda_cpu.build import INSTRUMENTED, build_kernel  # noqa: E402

SOURCE = ROOT / "tests" / "counting" / "cuda_cpu" / "basics.cu"
LARGEST = ROOT / "kernels_cuda" / "matmul_tensor" / "tuned.cu"
LARGEST_KERNEL = (
    "matmul_tensor_tuned<__half, __half, 128, 256, 64, 64, 64, 6, Access::REALIGNED_K, Access::REALIGNED_LINES>"
)
ROUNDS = 5


@dataclass(frozen=True)
class Cost:
    """Of one run, in milliseconds: elapsed, and what this process and its children worked."""

    elapsed: float
    worked: float

    def __str__(self) -> str:
        return f"{self.elapsed:8.1f} ms elapsed {self.worked:8.1f} ms of CPU"


def worked() -> float:
    """Seconds of CPU that this process and the children it has waited for have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def once(action: Callable[[], object]) -> Cost:
    """What one run costs."""
    cpu, start = worked(), time.perf_counter()
    action()
    return Cost(1e3 * (time.perf_counter() - start), 1e3 * (worked() - cpu))


def best(action: Callable[[], object]) -> Cost:
    """The shortest of five runs, after one to warm up; each of the two figures by itself."""
    action()
    costs = [once(action) for _ in range(ROUNDS)]
    return Cost(min(c.elapsed for c in costs), min(c.worked for c in costs))


def report(what: str, cost: Cost, target: float) -> None:
    """One line of the table."""
    verdict = "" if cost.elapsed <= target else "  over the target"
    print(f"{what:45} {cost}   target {target:6.0f} ms{verdict}", flush=True)


def every_build(kernel: Function) -> None:
    """What a check of a kernel compiles: with instrumentation, and without for its registers."""
    kernel.build_for_check()
    for name in kernel.fills:
        kernel.variant(name)


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
            cost = best(lambda: module.function("vadd")((3907,), (256,), vector))
        report(f"vector_add, 1e6 elements, {mode}", cost, target)
    for tile, blocks in ((16, 5), (32, 3)):
        kernel = module.function(f"sgemm_tiled<{tile}>")
        with checking("check"):
            cost = best(lambda: kernel((blocks, blocks), (tile, tile), (*matrices, side, side, side)))  # noqa: B023
        report(f"matmul 65^3, tile {tile}, check", cost, 50)
    report("cache hit", best(lambda: build_kernel(SOURCE, "vadd", (), INSTRUMENTED)), 5)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTEST_ROOFLINE_CACHE"] = folder
        print(f"{'first build, with runtime and headers':45} {once(lambda: every_build(module.function('aos')))}")
        defines = iter(range(100))

        def compiled(path: Path, kernel: str) -> Cost:
            return best(
                lambda: every_build(load(path, options=(f"-DBENCHMARK_ROUND={next(defines)}",)).function(kernel))
            )

        report("compile a kernel for a check", compiled(SOURCE, "vadd"), 1500)
        report("compile the largest of the catalogue", compiled(LARGEST, LARGEST_KERNEL), 1500)


if __name__ == "__main__":
    main()
