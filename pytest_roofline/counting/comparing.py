"""Counts and compiled code against those accepted before: what costs time is named with its cause and line. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from pytest_roofline.counting.compiled.resources import Resources
from pytest_roofline.counting.counts import Access, CaseCounts


@dataclass(frozen=True)
class Place:
    """A line of source; empty where none is known."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f" at {PurePath(self.file).name}:{self.line}" if self.file else ""


@dataclass(frozen=True)
class Difference:
    """One thing that changed: its cause in a word or two, whether it costs time (else it saves some), a sentence."""

    cause: str
    worse: bool
    sentence: str


@dataclass(frozen=True)
class _Figure:
    cause: str
    unit: str
    kinds: tuple[str, ...]
    of: Callable[[Access], int]
    ideal: Callable[[Access], int]


_GLOBAL = ("global load", "global store", "global atomic")
_SHARED = ("shared load", "shared store", "shared atomic")
_FIGURES = (
    _Figure("sectors", "sectors", _GLOBAL, lambda a: a.sectors, lambda a: a.ideal_sectors),
    _Figure("requests", "requests", _GLOBAL, lambda a: a.requests, lambda a: a.requests),
    _Figure("bank conflicts", "conflicts", _SHARED, lambda a: a.conflicts, lambda a: 0),
)


def compare_counts(stored: CaseCounts, now: CaseCounts) -> list[Difference]:
    """What changed in the counts of one case; empty if nothing that costs or saves time, or if one was not counted."""
    if stored.uncounted or now.uncounted:
        return []
    found = []
    before, after = len(stored.launches), len(now.launches)
    if before != after:
        names = ", ".join(launch.kernel for launch in now.launches)
        found.append(Difference("launches", after > before, f"{after} launches, {before} before ({names})"))
    for figure in _FIGURES:
        for kind in figure.kinds:
            was, got = stored.total(kind, figure.of), now.total(kind, figure.of)
            if was != got:
                found.append(Difference(figure.cause, got > was, _counted(figure, kind, was, stored, now)))
    return found


def _counted(figure: _Figure, kind: str, was: int, stored: CaseCounts, now: CaseCounts) -> str:
    got, ideal = now.total(kind, figure.of), now.total(kind, figure.ideal)
    sentence = f"{kind}: {got} {figure.unit}, {was} before"
    if got > was and ideal <= was:  # more only where lanes do other work than before: that was no ideal then
        sentence += f", {ideal} would do"
    changed = _changed(kind, stored, now)
    if not changed:
        return sentence
    worst = max(changed, key=lambda a: (figure.of(a) - figure.ideal(a), figure.of(a)))
    return f"{sentence}{Place(worst.file, worst.line)}"


def _changed(kind: str, stored: CaseCounts, now: CaseCounts) -> list[Access]:
    """The accesses of a kind that were not there before, whatever line they stand on."""
    before = Counter(a.numbers for launch in stored.launches for a in launch.accesses if a.kind == kind)
    changed = []
    for access in (a for launch in now.launches for a in launch.accesses if a.kind == kind):
        if before[access.numbers]:
            before[access.numbers] -= 1
        else:
            changed.append(access)
    return changed


def compare_launches(stored: Sequence[str], now: Sequence[str]) -> list[Difference]:
    """The same of a case whose launches are only known from the keys of what was compiled."""
    if len(stored) == len(now):
        return []
    names = ", ".join(map(kernel_name, dict.fromkeys(now)))
    sentence = f"{len(now)} launches, {len(stored)} before ({names})"
    return [Difference("launches", len(now) > len(stored), sentence)]


def kernel_name(key: str) -> str:
    """Of a compiled kernel, without what it is specialised on: ``sum.cu:sum_blocks`` or ``_copy``."""
    return re.split(r"[(<]| threads=", key, maxsplit=1)[0]


Places = Callable[[str], Place]


def compare_code(stored: Resources, now: Resources, place: Places = lambda kind: Place()) -> list[Difference]:
    """What changed in one kernel's code, both from the same compiler.

    ``place(kind)`` is where the code of an access of that kind comes from; ``place("")`` is the kernel's own line.
    """
    return [
        *_memory(stored, now, place),
        *_widths(stored, now, place),
        *_units(stored, now, place),
        *limits(now, place),
    ]


def limits(now: Resources, place: Places = lambda kind: Place()) -> list[Difference]:
    """What no block of this architecture may do; the compiler does not check it."""
    if not now.excess_shared:
        return []
    total = now.shared + now.dynamic
    sentence = f"{total} bytes of shared memory, {now.excess_shared} more than a block of {now.arch} may have"
    return [Difference("shared memory", True, sentence + str(place("")))]


def _memory(stored: Resources, now: Resources, place: Places) -> Iterable[Difference]:
    if stored.spills != now.spills:
        sentence = f"{now.spills} bytes of registers spilled, {stored.spills} before{place('')}"
        yield Difference("spills", now.spills > stored.spills, sentence)
    was, got = (r.mix.count("local load") + r.mix.count("local store") for r in (stored, now))
    if (was > 0) != (got > 0) and now.spills == stored.spills:
        yield Difference("local memory", got > was, f"{got} accesses to local memory, {was} before{place('')}")
    if stored.occupancy.fraction != now.occupancy.fraction:
        fewer = now.occupancy.fraction < stored.occupancy.fraction
        yield Difference("occupancy", fewer, f"{_occupancy(stored, now)}{place('')}")


def _occupancy(stored: Resources, now: Resources) -> str:
    fits, before = 100 * now.occupancy.fraction, 100 * stored.occupancy.fraction
    held = f"occupancy {fits:.0f} %" if fits else f"no block fits into an SM of {now.arch}, the launch fails"
    limited = f", limited by {now.occupancy.limiter}" if fits else ""
    return (
        f"{held}, {before:.0f} % before: {now.registers} registers ({stored.registers}), "
        f"{now.shared + now.dynamic} bytes of shared memory ({stored.shared + stored.dynamic}), "
        f"{now.threads} threads ({stored.threads}){limited}"
    )


def _widths(stored: Resources, now: Resources, place: Places) -> Iterable[Difference]:
    for kind in ("global load", "global store", "shared load", "shared store"):
        was, got = stored.mix.memory.get(kind, {}), now.mix.memory.get(kind, {})
        before, after = stored.mix.widest(kind), now.mix.widest(kind)
        if not (was and got):
            continue
        sentence = f"{kind}s of {_listed(got)} bytes, {_listed(was)} before"
        if after > before:
            yield Difference("vector width", False, sentence)
        elif after < before or (got[after] < was[after] and _narrower(got, after) > _narrower(was, after)):
            yield Difference("vector width", True, f"{sentence}{place(kind)}")


def _narrower(widths: Mapping[int, int], than: int) -> int:
    return sum(count for width, count in widths.items() if width < than)


def _listed(widths: Mapping[int, int]) -> str:
    return " and ".join(f"{count} x {width}" for width, count in sorted(widths.items(), reverse=True))


def _units(stored: Resources, now: Resources, place: Places) -> Iterable[Difference]:
    """Instructions that are there or not: tensor cores and asynchronous copies lost, double precision crept in."""
    for unit in ("mma", "wgmma", "cp.async", "tma", "ldmatrix"):
        was, got = stored.mix.count(unit), now.mix.count(unit)
        if (was > 0) != (got > 0):
            yield Difference(unit, got < was, f"{got} {unit} instructions, {was} before{place('')}")
    was, got = stored.mix.count("fp64"), now.mix.count("fp64")
    if (was > 0) != (got > 0):
        yield Difference("double precision", got > was, f"{got} fp64 instructions, {was} before{place('')}")


def worse(differences: Sequence[Difference]) -> list[Difference]:
    """Those that cost time."""
    return [d for d in differences if d.worse]
