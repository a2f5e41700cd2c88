"""Uninitialised registers: run twice with different contents of all uninitialised variables and compare the results.

The instrumentation sees memory only, so an uninitialised local variable is found by its effect. Two builds without
instrumentation fill such variables with a pattern and with zeros; where their code is the same, no such variable
matters and nothing is run. Where it differs, they run on the same data, and a third one with another pattern
(``fills.py``): bytes that come out different depend on a variable that nobody has set.
"""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING

import numpy as np

from pytest_roofline.counting.cuda_cpu import buffers
from pytest_roofline.counting.cuda_cpu.build import ZEROED
from pytest_roofline.counting.cuda_cpu.faults import CudaFault, FaultKind, Finding

if TYPE_CHECKING:
    from pytest_roofline.counting.cuda_cpu.buffers import Bytes, Region
    from pytest_roofline.counting.cuda_cpu.launching import Launch
    from pytest_roofline.counting.cuda_cpu.module import Variant

_WARNING = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):\d+: warning: .(?P<name>\w+). (?:is|may be) used uninitialized", re.MULTILINE
)


def compare(job: Launch, checked: Variant, flags: int) -> None:
    """Compare the builds' results. ``checked`` has just run under ``flags``; run again, it tells who wrote what.

    Leaves the checked run's results in the buffers. Raises :class:`CudaFault` at the first byte that differs.
    """
    results = [buffers.contents(region) for region in job.regions]
    outcomes = [_outcome(job, name) for name in job.function.fills]
    for region, result in zip(job.regions, results, strict=True):
        ctypes.memmove(region.address, result.ctypes.data, result.size)
    if not all(outcomes):
        return  # a plain run that fails where the checked one did not says nothing about registers
    for region, first, *others in zip(job.regions, *outcomes, strict=True):
        different = np.flatnonzero(np.any([first != other for other in others], axis=0))
        if not region.read_only and different.size:
            _run_again(job, checked, flags)
            raise CudaFault((_finding(job, checked, region, int(different[0]), int(different.size)),))


def _run_again(job: Launch, checked: Variant, flags: int) -> None:
    buffers.open_regions(checked.runtime, job.regions)
    for region in job.regions:
        buffers.open_map(checked.runtime, region, job.settings.uninitialised, job.settings.read_only)
    job.run(checked, flags)


def _outcome(job: Launch, name: str) -> list[Bytes]:
    """What a build makes of the buffers; nothing when it fails."""
    variant = job.function.variant(name)
    buffers.open_regions(variant.runtime, job.regions)
    return [] if job.run(variant, 0) else [buffers.contents(region) for region in job.regions]


def _finding(job: Launch, checked: Variant, region: Region, offset: int, count: int) -> Finding:
    block, thread, pc = ctypes.c_uint64(), ctypes.c_uint32(), ctypes.c_uint64()
    places = [ctypes.addressof(value) for value in (block, thread, pc)]
    file, line = str(job.function.module.path), 0
    if checked.runtime.rl_last_writer(region.slot, offset, *places):
        file, line = checked.symboliser.locate([pc.value])[pc.value]
    x, y, _ = job.grid
    width, height, _ = job.block
    suspects = _suspects(job)
    where = f"stored at line {line}" if line else "of the result"
    text = f"{count} bytes {where} depend on a variable that nobody has set"
    if suspects:
        text += "; the compiler suspects " + ", ".join(f"{name!r} at line {at}" for _, at, name in suspects)
    return Finding(
        kind=FaultKind.UNINITIALISED_REGISTER,
        kernel=job.function.name,
        block=(block.value % x, block.value // x % y, block.value // (x * y)),
        thread=(thread.value % width, thread.value // width % height, thread.value // (width * height)),
        file=file,
        line=suspects[0][1] if len(suspects) == 1 else line,
        buffer=region.name,
        offset=offset,
        text=text,
        other_line=line,
    )


def _suspects(job: Launch) -> list[tuple[str, int, str]]:
    """Places where the compiler's own analysis sees the use of an uninitialised variable."""
    text = job.function.variant(ZEROED).build.warnings
    found = {(m["file"], int(m["line"]), m["name"]) for m in _WARNING.finditer(text)}
    return sorted(s for s in found if s[0].endswith(job.function.module.path.name))
