"""One launch: buffers in, run, findings and counts out, buffers back."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_roofline.counting.cuda_cpu import abi, buffers, counts, registers
from pytest_roofline.counting.cuda_cpu.arguments import View
from pytest_roofline.counting.cuda_cpu.faults import BY_NUMBER, CudaFault, FaultKind, Finding
from pytest_roofline.counting.cuda_cpu.records import LaunchRecord
from pytest_roofline.counting.cuda_cpu.session import ORDERS, Session

if TYPE_CHECKING:
    from pytest_roofline.counting.cuda_cpu.module import Function, Variant

Extent = tuple[int, int, int]
_FLAGS = {
    "check": abi.CHECK_ACCESSES | abi.CHECK_RACES | abi.COUNT,
    "count": abi.CHECK_ACCESSES | abi.COUNT,
    "plain": 0,
}
NEAR = 32 * 1024  # bytes beside a shared variable within which a wrong address is an index gone astray
_LOWEST_PC = abi.MAX_SLOTS + 1  # smaller numbers only keep findings apart


class Launch:
    """The pieces that a launch needs while it runs."""

    def __init__(
        self,
        function: Function,
        settings: Session,
        grid: Extent,
        block: Extent,
        values: Sequence[View | bytes],
        shared_bytes: int,
    ) -> None:
        self.function = function
        self.settings = settings
        self.grid = grid
        self.block = block
        self.values = values
        self.shared_bytes = shared_bytes
        self.regions = buffers.group(v for v in values if isinstance(v, View))

    def run(self, variant: Variant, flags: int) -> int:
        """Run on a compiled form of the kernel; the buffers must be open. The number of findings."""
        by_view = {id(view): region for region in self.regions for view in region.views}
        cells = [
            ctypes.create_string_buffer(
                v if isinstance(v, bytes) else by_view[id(v)].device_address(v).to_bytes(8, "little"), 8
            )
            if isinstance(v, View) or len(v) <= 8
            else ctypes.create_string_buffer(v, len(v))
            for v in self.values
        ]
        pointers = (ctypes.c_void_p * max(len(cells), 1))(*map(ctypes.addressof, cells))
        spec = abi.LaunchSpec(
            entry=variant.entry,
            arguments=ctypes.addressof(pointers),
            grid=self.grid,
            block=self.block,
            dynamic_bytes=self.shared_bytes,
            flags=flags,
            slots=len(self.regions),
            order=ORDERS.index(self.settings.order),
            seed=self.settings.seed,
            anchor=variant.anchor(),
            shared=variant.shared_spans(self.shared_bytes),
            objects=variant.objects,
            shared_count=len(variant.shared) + len(variant.hidden),
            objects_count=variant.objects_count,
            time_limit=self.settings.time_limit,
            launch_limit=self.settings.launch_limit,
        )
        found: int = variant.runtime.rl_launch(ctypes.byref(spec))
        if found < 0:
            raise MemoryError(f"{self.function.name}: no memory for the shadow of its buffers")
        return found


def launch(
    function: Function,
    variant: Variant,
    settings: Session,
    grid: Extent,
    block: Extent,
    values: Sequence[View | bytes],
    shared_bytes: int,
) -> None:
    """Run a launch whose arguments are checked already; appends its record. Raises :class:`CudaFault`."""
    job = Launch(function, settings, grid, block, values, shared_bytes)
    runtime = variant.runtime
    flags = _FLAGS[settings.mode]
    if settings.allows_same_value(function.name):
        flags |= abi.ALLOW_SAME_VALUE
    buffers.open_regions(runtime, job.regions)
    states = {}
    if flags:
        for region in job.regions:
            states[region.slot] = buffers.open_map(runtime, region, settings.uninitialised, settings.read_only)
    found = job.run(variant, flags)
    if found:
        raise CudaFault(findings(job, variant, found))
    touched = {slot: buffers.footprint(runtime, job.regions[slot]) for slot in states}
    record = _record(job, variant, touched) if settings.recording else None
    if settings.mode == "check" and function.fills:
        registers.compare(job, variant, flags)
    for region in job.regions:
        if not region.read_only and (not flags or touched[region.slot][1]):
            buffers.copy_back(region)
        if flags:
            buffers.remember(region, states[region.slot], settings.uninitialised)
    if record is not None:
        settings.launches.append(record)


def findings(job: Launch, variant: Variant, count: int) -> tuple[Finding, ...]:
    """The runtime's findings with source lines and names, symptoms of others last."""
    raw = sorted((variant.runtime.rl_faults()[i] for i in range(count)), key=lambda fault: bool(fault.symptom))
    places = [pc for fault in raw for pc in (fault.pc, fault.other_pc) if pc >= _LOWEST_PC]
    where = variant.symboliser.locate(places)
    return tuple(_finding(job, variant, fault, where) for fault in raw)


def _finding(job: Launch, variant: Variant, fault: Any, where: dict[int, tuple[str, int]]) -> Finding:
    file, line = where.get(fault.pc, ("?", 0))
    if not line and fault.line:
        file, line = fault.file.decode(), fault.line
    elif not line:
        file, line = where.get(fault.other_pc, ("?", 0))
    buffer: str | None = None
    offset = fault.offset
    kind, text = BY_NUMBER[fault.kind], fault.text.decode()
    if kind is FaultKind.OUT_OF_BOUNDS and fault.region == abi.SHARED_REGION and not _near_shared(variant, offset):
        # The C library's heap, where host arrays lie, may begin next to the thread-local segment that is shared memory.
        kind = FaultKind.INVALID_POINTER
        text = f"{text.partition(' outside')[0]}, at no address of a buffer of this launch; perhaps a host pointer"
    elif fault.region == abi.SHARED_REGION:
        buffer, offset = variant.shared_variable(fault.offset)
    elif fault.region == abi.MODULE_REGION:
        buffer, offset = variant.device_variable(fault.offset)
    elif fault.region >= 0 and fault.region < len(job.regions):
        buffer = job.regions[fault.region].name
    return Finding(
        kind=kind,
        kernel=job.function.name,
        block=tuple(fault.block),
        thread=tuple(fault.thread),
        file=file if line else str(job.function.module.path),
        line=line,
        buffer=buffer,
        offset=offset,
        text=text,
        other_line=fault.other_line or where.get(fault.other_pc, ("?", 0))[1],
        count=fault.count,
    )


def _near_shared(variant: Variant, offset: int) -> bool:
    """Whether an offset from the start of shared memory may be a wrong index of a variable in it."""
    return any(-NEAR <= offset - s.address <= s.size + NEAR for s in variant.shared)


def _record(job: Launch, variant: Variant, touched: dict[int, tuple[int, int]]) -> LaunchRecord:
    """``touched``: the bytes read and written of every slot, empty in a plain run."""
    totals = variant.runtime.rl_totals().contents
    counted = counts.collect(variant) if touched or not job.regions else counts.Counts()
    return LaunchRecord(
        kernel=job.function.name,
        file=str(job.function.module.path),
        grid=job.grid,
        block=job.block,
        shared_bytes=job.shared_bytes,
        mode=job.settings.mode,
        lines=counted.lines,
        operations=counted.operations,
        threads=totals.threads,
        barriers=totals.barriers,
        collectives=totals.collectives,
        warp_blocks=counted.warp_blocks,
        thread_blocks=counted.thread_blocks,
        unique_read_bytes={r.name: touched[r.slot][0] for r in job.regions if r.slot in touched},
        unique_written_bytes={r.name: touched[r.slot][1] for r in job.regions if r.slot in touched},
    )
