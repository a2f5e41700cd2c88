"""What launchers of CUDA C++ kernels would launch, and what that becomes, without a GPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_roofline.counting.compiled import cuda
from pytest_roofline.counting.compiled.resources import Resources, resources
from pytest_roofline.driver import Extents
from pytest_roofline.launch import Function, recording


def launched(call: Callable[[], object]) -> list[tuple[Function, Extents, Extents, int]]:
    """What ``call`` launches, without a GPU: (function, grid, block, dynamic shared memory)."""
    told: list[tuple[Function, Extents, Extents, int]] = []
    with recording(lambda *launch: told.append(launch)):
        call()
    return told


def compiled(function: Function, block: Extents, dynamic: int, arch: str) -> Resources:
    """What a launched kernel becomes for ``arch``; skips the test where there is no NVRTC."""
    source = function.source
    try:
        program = cuda.compile_kernel(source.path, source.text, function.name, source.options, arch, source.fingerprint)
    except cuda.CompilerMissing as reason:
        pytest.skip(str(reason))
    return resources(program.binary, program.symbol, arch, "nvrtc", block[0], dynamic, program.spills)
