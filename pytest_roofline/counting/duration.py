"""How long a case runs on a CPU in place of a GPU, before anybody waits for it. Pure.

A kernel runs there thread by thread or block by block with every access looked at. The rates are those of checks of
this project's plain and tiled kernels on one core of a 2 GHz server: the order of magnitude is what counts here.
"""

from __future__ import annotations

import math

from pytest_roofline.contract import Case

_OPERATIONS = 1e8  # per second
_BYTES = {"cuda": 4e7, "triton": 1e7}  # per second
_PROGRAM = 1.5e-3  # seconds of each step of a program of Triton beside
LONG = 60.0  # seconds that a case of the gate may take
UNBEARABLE = 600.0  # that one asked for by name may


def seconds(case: Case) -> float:
    """About how long one check takes; 0 for what is neither CUDA C++ nor Triton and runs as fast as the CPU does."""
    rate = _BYTES.get(case.kernel.backend)
    if rate is None or case.kernel.peer:
        return 0.0
    work = case.work
    spent = sum(work.operations.values()) / _OPERATIONS + work.traffic.total / rate
    return spent + _PROGRAM * _steps(case) if case.kernel.backend == "triton" else spent


def _steps(case: Case) -> int:
    return math.prod(-(-extent // tile) for extent, tile in zip(case.shape.dims, case.kernel.tile, strict=False))


def told(number: float) -> str:
    """Seconds for people: ``4 minutes``, ``38 hours``."""
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if number >= 2 * size:
            return f"{number / size:.0f} {unit}"
    return f"{number:.0f} seconds"
