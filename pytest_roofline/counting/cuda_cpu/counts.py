"""From the runtime's counts, kept by place in the code, to those of a record, kept by source line."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_roofline.counting.cuda_cpu import abi
from pytest_roofline.counting.cuda_cpu.operations import FLOPS
from pytest_roofline.counting.cuda_cpu.records import LineCounts, OperationCounts

if TYPE_CHECKING:
    from pytest_roofline.counting.cuda_cpu.module import Variant

_FIGURES = [field[0] for field in abi.LineCount._fields_ if field[0] not in ("pc", "kind", "size")]


@dataclass(frozen=True)
class Counts:
    """What one launch did: accesses and operations by line, and executed basic blocks."""

    lines: tuple[LineCounts, ...] = ()
    operations: tuple[OperationCounts, ...] = ()
    warp_blocks: int = 0
    thread_blocks: int = 0


def collect(variant: Variant) -> Counts:
    """The counts of the launch that has just run."""
    pointer = ctypes.POINTER(abi.LineCount)()
    entries = [pointer[i] for i in range(variant.runtime.rl_line_counts(ctypes.byref(pointer)))]
    blocks = [entry for entry in entries if not entry.kind]
    operations = _instructions(variant, blocks) + _matrix_operations(variant)
    return Counts(
        _lines(variant, [entry for entry in entries if entry.kind]),
        tuple(sorted(operations, key=lambda o: (o.file, o.line, o.pipeline, o.kind))),
        sum(b.requests for b in blocks),
        sum(b.lanes for b in blocks),
    )


def _lines(variant: Variant, entries: list[Any]) -> tuple[LineCounts, ...]:
    """Requests by file, line, kind and width."""
    where = variant.symboliser.locate([e.pc for e in entries])
    merged: dict[tuple[str, int, str, int], dict[str, int]] = {}
    for entry in entries:
        key = (*where[entry.pc], abi.SPACES[entry.kind], entry.size)
        sums = merged.setdefault(key, dict.fromkeys(_FIGURES, 0))
        for name in _FIGURES:
            value = getattr(entry, name)
            sums[name] = max(sums[name], value) if name == "max_degree" else sums[name] + value
    return tuple(
        LineCounts(file, line, kind, size, **sums) for (file, line, kind, size), sums in sorted(merged.items())
    )


def _instructions(variant: Variant, blocks: list[Any]) -> list[OperationCounts]:
    """Operations of the code: how often its block ran, times how many the block holds."""
    executed = {block.pc: block for block in blocks}
    found = [operation for operation in variant.operations if operation.block in executed]
    where = variant.symboliser.locate([operation.place for operation in found])
    sums: dict[tuple[str, int, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for operation in found:
        file, line = where[operation.place]
        total = sums[file, line, operation.pipeline, operation.kind]
        total[0] += executed[operation.block].requests * operation.count
        total[1] += executed[operation.block].lanes * operation.count
    return [
        OperationCounts(file, line, pipeline, kind, requests, lanes, lanes * FLOPS[kind])
        for (file, line, pipeline, kind), (requests, lanes) in sums.items()
    ]


def _matrix_operations(variant: Variant) -> list[OperationCounts]:
    """Operations of the tensor cores, which a warp does as one."""
    pointer = ctypes.POINTER(abi.TensorCount)()
    entries = [pointer[i] for i in range(variant.runtime.rl_tensor_counts(ctypes.byref(pointer)))]
    return [
        OperationCounts(e.file.decode(), e.line, e.pipeline.decode(), "mma", e.executed, 32 * e.executed, e.flops)
        for e in entries
    ]
