"""The ladder of an operation: each kernel with its time, its share of the bound, and what was counted of it. Pure.

Times are those of one device, measured; counts are exact and come from a small shape and from compiled code, because
what a request costs does not depend on how many there are. The two stand side by side and are never mixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_roofline.baselines.counted import Counted
from pytest_roofline.contract import Case
from pytest_roofline.counting.compiled.resources import Resources
from pytest_roofline.counting.counts import CaseCounts
from pytest_roofline.devices.record import DeviceRecord
from pytest_roofline.reports.units import OPERATIONS, Unit, fitting, share, time
from pytest_roofline.roofline import Regime, assess, rates

BYTES = (Unit("TB/s", 1e12), Unit("GB/s", 1e9))
_HEADER = ("kernel", "time", "rate", "of bound", "by", "op/byte", "sect/req", "conflicts", "regs", "occupancy", "")


@dataclass(frozen=True)
class Rung:
    """One kernel of a ladder. ``seconds`` is measured; ``counts`` are of one execution of a small case, ``compiled``
    the kernels that it launches, for the architecture that was counted. ``None`` and empty for what there is not."""

    case: Case
    seconds: float | None = None
    counts: CaseCounts | None = None
    compiled: tuple[Resources, ...] = ()


def rungs(
    cases: Iterable[Case], seconds: Mapping[str, float], counted: Sequence[Counted], shape: str
) -> tuple[Rung, ...]:
    """The rungs of one shape: ``seconds`` by case id, and the counts of the same kernels for the small ``shape``."""
    found = []
    for case in cases:
        small = "/".join((*str(case).split("/")[:4], shape))
        block = next((block for block in counted if small in block.cases), None)
        entry = block.cases[small] if block else None
        counts = entry.counts if entry else None
        found.append(Rung(case, seconds.get(str(case)), counts, _compiled(block, entry.kernels) if entry else ()))
    return tuple(found)


def _compiled(block: Counted | None, keys: Sequence[str]) -> tuple[Resources, ...]:
    """The kernels as the newest compiler has all of them; empty if none has."""
    for _, kernels in sorted(block.compiled.items(), reverse=True) if block else ():
        if keys and all(key in kernels for key in keys):
            return tuple(kernels[key] for key in keys)
    return ()


def sectors_per_request(counts: CaseCounts) -> float | None:
    """32-byte sectors that a request to global memory moves in the mean; ``None`` where nothing is moved.

    A float per lane takes 4 at least, 16 bytes per lane 16.
    """
    accesses = [a for launch in counts.launches for a in launch.accesses if a.kind.startswith("global")]
    requests = sum(access.requests for access in accesses)
    return sum(access.sectors for access in accesses) / requests if requests else None


def conflict_degree(counts: CaseCounts) -> float | None:
    """Passes of shared memory over those that would do without bank conflicts; ``None`` without shared memory."""
    accesses = [a for launch in counts.launches for a in launch.accesses if a.ideal_wavefronts]
    ideal = sum(access.ideal_wavefronts for access in accesses)
    return sum(access.wavefronts for access in accesses) / ideal if ideal else None


def table(found: Sequence[Rung], record: DeviceRecord, shape: str) -> list[str]:
    """The lines of the table; ``record`` is of the device that ``seconds`` were measured on, ``shape`` was counted."""
    rows: list[tuple[str, ...]] = [_HEADER]
    others = found[-1].case.shape if found else None
    above: dict[str, float] = {}
    for rung in found:
        backend = rung.case.kernel.backend
        name, *cells = _cells(rung, record)
        if rung.case.shape != others:
            name += f" at {rung.case.shape}"
        rows.append((name, *cells, _gain(rung, above.get(backend))))
        if rung.seconds is not None:
            above[backend] = _pace(rung)
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    lines = ["  ".join(_aligned(row, widths)).rstrip() for row in rows]
    arches = sorted({r.arch for rung in found for r in rung.compiled})
    where = f", registers and occupancy compiled for {', '.join(arches)}" if arches else ""
    return [
        *lines,
        f"times: measured on {record.name}; sectors and conflicts: counted at {shape}{where}",
        "op/byte: operations per byte of the heaviest traffic that the kernel's model names; conflicts: passes of",
        "shared memory over those without conflicts; last: how much faster than the rung above in that language",
    ]


def _cells(rung: Rung, record: DeviceRecord) -> tuple[str, ...]:
    name = f"{rung.case.kernel.backend}/{rung.case.kernel.variant}"
    found = assess(rung.case.work, rung.case.model, record)
    by = found.algorithm.by if found.algorithm else "-"
    if rung.seconds is None:
        timed = ("-", "-", "-", by)
    else:
        timed = (time(rung.seconds), _rate(rung.case, rung.seconds, record), share(found.fraction(rung.seconds)), by)
    return name, *timed, _intensity(rung.case), *_counted(rung)


def _intensity(case: Case) -> str:
    """Operations per byte of the heaviest traffic that the kernel's model names, or of the compulsory one."""
    heaviest = max(traffic.total for traffic in (*case.model, case.work.traffic))
    operations = sum(case.work.operations.values())
    return f"{operations / heaviest:.3g}" if heaviest and operations else "-"


def _rate(case: Case, seconds: float, record: DeviceRecord) -> str:
    """Operations per second where they bound the problem, else bytes per second."""
    problem = assess(case.work, (), record).problem
    compute = problem is not None and problem.regime is Regime.COMPUTE
    found = rates(case.work, seconds)
    value, units = (found.operations_per_second, OPERATIONS) if compute else (found.bytes_per_second, BYTES)
    unit = fitting(units, value)
    return f"{unit.number(value, 3)} {unit.name}"


def _counted(rung: Rung) -> tuple[str, ...]:
    sectors = sectors_per_request(rung.counts) if rung.counts else None
    conflicts = conflict_degree(rung.counts) if rung.counts else None
    registers = "+".join(str(kernel.registers) for kernel in rung.compiled) or "-"
    spills = sum(kernel.spills for kernel in rung.compiled)
    occupied = "+".join(share(kernel.occupancy.fraction) for kernel in rung.compiled) or "-"
    return (
        "-" if sectors is None else f"{sectors:.1f}",
        "-" if conflicts is None else f"{conflicts:.2f}x",
        registers + (f" ({spills} spilled)" if spills else ""),
        occupied,
    )


def _gain(rung: Rung, above: float | None) -> str:
    return "" if rung.seconds is None or above is None else f"{above / _pace(rung):.2f}x"


def _pace(rung: Rung) -> float:
    """Seconds per operation, or per byte where there are none: of the same problem, or of another size of it."""
    assert rung.seconds is not None
    return rung.seconds / (sum(rung.case.work.operations.values()) or rung.case.work.traffic.total or 1)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [text.ljust(widths[0]) if i == 0 else text.rjust(widths[i]) for i, text in enumerate(row)]
