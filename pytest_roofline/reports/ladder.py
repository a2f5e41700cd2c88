"""The ladder of an operation: each kernel with its time, its share of the bound, and what was counted of it. Pure.

All figures of a row are of one kernel on one device. Times are measured; registers, spills and occupancy are those of
the compiled kernels that the timed shape launches there; sectors and conflicts were counted on a CPU, at a small shape
that launches the same kernel. What is of another shape, or does not exist, has a mark and a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_roofline.baselines.counted import Counted, CountedCase
from pytest_roofline.contract import Case, Kernel
from pytest_roofline.counting.compiled.resources import Resources
from pytest_roofline.counting.counts import CaseCounts
from pytest_roofline.devices.record import DeviceRecord
from pytest_roofline.reports.units import OPERATIONS, Unit, fitting, share, time
from pytest_roofline.roofline import Regime, assess, rates

BYTES = (Unit("TB/s", 1e12), Unit("GB/s", 1e9))
HEADER = ("kernel", "time", "rate", "of bound", "by", "op/byte", "sect/req", "conflicts", "regs", "occupancy", "step")
HOPPER = ("wgmma", "tma")  # kinds of instructions that no CPU has a model of
LEGEND = (
    "op/byte: operations per byte of the heaviest traffic that the kernel's model names",
    "sect/req: 32-byte sectors per request of a warp to global memory; in Triton per load or store of a program, the "
    "least of any layout",
    "conflicts: passes of shared memory over those without conflicts",
    "regs, occupancy: of the timed shape's kernels, in the order of their launches; spilled: bytes of one thread",
    "step: how much faster than the rung that this one changes, at the same shape",
)


@dataclass(frozen=True)
class Figure:
    """A cell: ``None`` for what there is not, and a note where it needs one."""

    value: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Rung:
    """One kernel of a ladder. ``seconds`` is measured; ``counts`` are of one execution of a small case that launches
    the same kernels, ``compiled`` those kernels. ``None`` and empty for what there is not; the notes say why, or what
    else it is of. ``step`` is the time of the rung that this one changes over its own."""

    case: Case
    seconds: float | None = None
    counts: CaseCounts | None = None
    counts_note: str = ""
    compiled: tuple[Resources, ...] = ()
    compiled_note: str = ""
    step: Figure = Figure()


def rungs(cases: Sequence[Case], seconds: Mapping[str, float], block: Counted | None, shape: str) -> tuple[Rung, ...]:
    """The rungs of ``cases``: ``seconds`` by case id, ``block`` what was counted and compiled for the device that they
    are of. Counts are taken at ``shape``, if that launches the timed kernel."""
    return tuple(_rung(case, cases, seconds, block, shape) for case in cases)


def _rung(case: Case, cases: Sequence[Case], seconds: Mapping[str, float], block: Counted | None, shape: str) -> Rung:
    timed, step = seconds.get(str(case)), _step(case, cases, seconds)
    if case.kernel.peer:
        return Rung(case, timed, None, "a library's: neither counted nor compiled here", (), "", step)
    if block is None:
        nothing = "nothing is stored as compiled for this device"
        return Rung(case, timed, None, nothing, (), nothing, step)
    keys, note = _launched(case, block, shape)
    compiled = _compiled(block, keys)
    counts, why = _counts(case, block, keys, shape)
    if counts is None and any(kernel.mix.count(kind) for kernel in compiled for kind in HOPPER):
        why = f"the CPU has no model of {block.arch}'s own instructions" if case.kernel.backend == "cuda" else why
    return Rung(case, timed, counts, why, compiled, note if compiled else "no compiled code is stored", step)


def _launched(case: Case, block: Counted, shape: str) -> tuple[tuple[str, ...], str]:
    """Keys of the kernels that the timed shape launches, else those that the small one does, and a note on that."""
    if entry := block.cases.get(str(case)):
        return entry.kernels, ""
    entry = block.cases.get(str(_at(case, shape)))
    return (entry.kernels if entry else ()), f"compiled at {shape}; of the timed shape nothing is stored"


def _compiled(block: Counted, keys: Sequence[str]) -> tuple[Resources, ...]:
    """The kernels as the newest compiler has all of them; empty if none has."""
    for _, kernels in sorted(block.compiled.items(), reverse=True):
        if keys and all(key in kernels for key in keys):
            return tuple(kernels[key] for key in keys)
    return ()


def _counts(case: Case, block: Counted, keys: Sequence[str], shape: str) -> tuple[CaseCounts | None, str]:
    """Counts of a case that launches the kernels ``keys``, and a note on what else it is, or why there are none.

    The nearest is taken: of ``shape`` before others, of this variant before others, of the same specialisation before
    one that knows other sizes to be multiples of 16.
    """
    wanted = sorted(keys), sorted(map(_same, keys))
    found = []
    for name, entry in _counted(block):
        ours, other = name.split("/"), str(case).split("/")
        if (ours[0], ours[1], ours[3]) != (other[0], other[1], other[3]):
            continue
        exact = sorted(entry.kernels) == wanted[0]
        if exact or sorted(map(_same, entry.kernels)) == wanted[1]:
            found.append(((ours[2] != other[2], ours[4] != shape, not exact, name), name, entry.counts, exact))
    if not found:
        return None, "no counted shape launches the kernel that was timed"
    _, name, counts, exact = min(found, key=lambda match: match[0])
    ours, notes = name.split("/"), []
    if ours[2] != case.kernel.variant:
        notes.append(f"counted as {ours[1]}/{ours[2]}")
    if ours[4] != shape:
        notes.append(f"counted at {ours[4]}")
    if not exact:
        notes.append("counted of the same tile for sizes that need not be multiples of 16")
    return counts, ", ".join(notes)


def _counted(block: Counted) -> Iterator[tuple[str, CountedCase]]:
    for name, entry in block.cases.items():
        if entry.kernels and entry.counts.launches and not entry.counts.uncounted:
            yield name, entry


def _same(key: str) -> str:
    """A kernel's key without what Triton specialises it for: the name, its constants and its warps stay."""
    name, _, inside = key.partition("(")
    constants = re.findall(r"\b(?!UNITS|WHOLE)[A-Z_]{2,}=[^,)]+", inside)
    return " ".join((name, *constants, inside.rpartition(")")[2])) if constants else key


def _step(case: Case, cases: Sequence[Case], seconds: Mapping[str, float]) -> Figure:
    """Against the rung that this one changes, at the shape of the one or the other."""
    before = changed(case)
    if before is None or case.kernel.peer:
        return Figure()
    if str(case.dtype) not in before.dtypes:
        return Figure(None, f"{before.variant} does not have this format")
    shown = next((other.shape for other in cases if other.kernel is before), case.shape)
    for shape in (case.shape, shown):
        ours = seconds.get(str(_at(case, str(shape))))
        theirs = seconds.get(str(Case(case.operation, before, case.dtype, shape)))
        if ours and theirs:
            return Figure(theirs / ours, "" if shape == case.shape else f"of the times at {shape}")
    return Figure(None, f"no shape was timed of both this and {before.variant}")


def changed(case: Case) -> Kernel | None:
    """The kernel that this one changes: the one it names, else the one declared before it in its language."""
    ours = [k for k in case.operation.kernels if k.backend == case.kernel.backend and not k.peer]
    if case.kernel.after:
        return case.operation.kernel(case.kernel.backend, case.kernel.after)
    at = ours.index(case.kernel) if case.kernel in ours else 0
    return ours[at - 1] if at else None


def _at(case: Case, shape: str) -> Case:
    return Case(case.operation, case.kernel, case.dtype, type(case.shape).parse(shape))


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


class Notes:
    """Numbers of the notes of one table, in the order in which its marks appear."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, text: str, note: str) -> str:
        """The cell with its mark, if it has a note."""
        return f"{text} [{self._numbers.setdefault(note, len(self._numbers) + 1)}]" if note else text

    def lines(self) -> list[str]:
        """What the marks mean."""
        return [f"[{number}] {note}" for note, number in self._numbers.items()]


def table(found: Sequence[Rung], record: DeviceRecord, shape: str, ran: str = "") -> list[str]:
    """The lines of the table and its notes; ``record`` is of the device of all figures, ``shape`` was counted, ``ran``
    names the versions that the times were measured with."""
    notes = Notes()
    rows = [HEADER, *(_row(rung, record, found[-1].case, notes) for rung in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = ["  ".join(_aligned(row, widths)).rstrip() for row in rows]
    return [*lines, *notes.lines(), *_origins(found, record, shape, ran)]


def _origins(found: Sequence[Rung], record: DeviceRecord, shape: str, ran: str) -> list[str]:
    arches = sorted({r.arch for rung in found for r in rung.compiled})
    compilers = sorted({r.compiler for rung in found for r in rung.compiled})
    lines = [f"times: measured on {record.name}" + (f" with {ran}" if ran else "")]
    if any(rung.counts for rung in found):
        lines.append(f"sectors, conflicts: counted on a CPU at {shape}, of the timed kernel")
    if arches:
        lines.append(f"registers, occupancy: compiled for {', '.join(arches)} by {'; '.join(compilers)}")
    return lines


def _row(rung: Rung, record: DeviceRecord, last: Case, notes: Notes) -> tuple[str, ...]:
    name = f"{rung.case.kernel.backend}/{rung.case.kernel.variant}"
    if rung.case.shape != last.shape:
        name += f" at {rung.case.shape}"
    found = assess(rung.case.work, rung.case.model, record)
    by = found.algorithm.by if found.algorithm else "-"
    if rung.seconds is None:
        timed = (notes.mark("-", "no time is stored"), "-", "-", by)
    else:
        timed = (time(rung.seconds), _rate(rung.case, rung.seconds, record), share(found.fraction(rung.seconds)), by)
    figures = _figures(rung, notes)
    step = notes.mark("-" if rung.step.value is None else f"{rung.step.value:.2f}x", rung.step.note)
    return name, *timed, _intensity(rung.case), *figures, "" if step == "-" else step


def _figures(rung: Rung, notes: Notes) -> tuple[str, ...]:
    sectors = sectors_per_request(rung.counts) if rung.counts else None
    registers = "+".join(str(kernel.registers) for kernel in rung.compiled) or "-"
    spills = sum(kernel.spills for kernel in rung.compiled)
    occupied = "+".join(share(kernel.occupancy.fraction) for kernel in rung.compiled) or "-"
    return (
        notes.mark("-" if sectors is None else f"{sectors:.1f}", rung.counts_note),
        _conflicts(rung, notes),
        notes.mark(registers + (f" ({spills} spilled)" if spills else ""), rung.compiled_note),
        occupied,
    )


def _conflicts(rung: Rung, notes: Notes) -> str:
    if rung.counts is None:
        return notes.mark("-", rung.counts_note)
    if rung.counts.layout_free:
        return notes.mark("-", "Triton's compiler lays out shared memory: its interpreter knows no banks")
    degree = conflict_degree(rung.counts)
    return notes.mark("-", "uses no shared memory") if degree is None else f"{degree:.2f}x"


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


def _aligned(row: Sequence[str], widths: Iterable[int]) -> list[str]:
    return [
        text.ljust(width) if i == 0 else text.rjust(width)
        for i, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
