"""What one execution of a case does to memory, counted on the CPU, as plain data. Pure.

CUDA C++ is counted warp by warp. Triton's interpreter does not know which thread holds which element, so there a
request is one load or store of one program: sectors are those that any layout must move at least (``layout_free``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SECTOR = 32


@dataclass(frozen=True)
class Access:
    """The requests of one kind (``global load``, ``shared store`` …) that one source line makes.

    ``size`` is bytes per lane. ``wavefronts`` are passes of shared memory, ``ideal_wavefronts`` how many would do
    without conflicts, ``ideal_sectors`` what packed accesses of the same lanes need.
    """

    kind: str
    size: int
    requests: int
    lanes: int
    sectors: int = 0
    ideal_sectors: int = 0
    wavefronts: int = 0
    ideal_wavefronts: int = 0
    file: str = ""
    line: int = 0

    @property
    def conflicts(self) -> int:
        """Passes of shared memory beyond those that conflict-free accesses take."""
        return max(0, self.wavefronts - self.ideal_wavefronts)

    @property
    def numbers(self) -> tuple[Any, ...]:
        """All but the place, which an unrelated edit moves."""
        return (
            self.kind,
            self.size,
            self.requests,
            self.lanes,
            self.sectors,
            self.ideal_sectors,
            self.wavefronts,
            self.ideal_wavefronts,
        )


@dataclass(frozen=True)
class Launch:
    """One kernel launch: bytes read and written count each byte once."""

    kernel: str
    accesses: tuple[Access, ...] = ()
    flops: Mapping[str, int] = field(default_factory=dict)
    unique_read: int = 0
    unique_written: int = 0


@dataclass(frozen=True)
class CaseCounts:
    """All launches of one execution in order. ``uncounted`` where there was none: of a shape too large for a CPU, and
    of instructions that no CPU has a model of, only the compiled code is known."""

    launches: tuple[Launch, ...] = ()
    layout_free: bool = False
    uncounted: bool = False

    def total(self, kind: str, figure: Callable[[Access], int]) -> int:
        """A figure of one kind, summed over all launches and lines."""
        return sum(figure(access) for launch in self.launches for access in launch.accesses if access.kind == kind)

    def kinds(self) -> list[str]:
        """The kinds of access there are, sorted."""
        return sorted({access.kind for launch in self.launches for access in launch.accesses})


def to_plain(counts: CaseCounts, *, places: bool) -> dict[str, Any]:
    """JSON values; ``places`` keeps files and lines, which baselines leave out."""
    launches = [
        {
            "kernel": launch.kernel,
            "accesses": [[*a.numbers, a.file, a.line] if places else list(a.numbers) for a in launch.accesses],
            "flops": dict(launch.flops),
            "read": launch.unique_read,
            "written": launch.unique_written,
        }
        for launch in counts.launches
    ]
    told = {"uncounted": True} if counts.uncounted else {}
    return {"launches": launches, "layout_free": counts.layout_free, **told}


def from_plain(data: Mapping[str, Any]) -> CaseCounts:
    """The reverse. Raises ``ValueError`` for what is not of that form."""
    try:
        launches = tuple(_launch(launch) for launch in data["launches"])
        return CaseCounts(launches, bool(data["layout_free"]), bool(data.get("uncounted", False)))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"no counts: {type(error).__name__} {error}") from error


def _launch(data: Mapping[str, Any]) -> Launch:
    flops = {str(pipeline): _count(number) for pipeline, number in data["flops"].items()}
    accesses = tuple(_access(numbers) for numbers in data["accesses"])
    return Launch(str(data["kernel"]), accesses, flops, _count(data["read"]), _count(data["written"]))


def _access(data: Sequence[Any]) -> Access:
    size, requests, lanes, sectors, ideal_sectors, wavefronts, ideal_wavefronts = map(_count, data[1:8])
    file, line = data[8:] or ("", 0)
    return Access(
        kind=str(data[0]),
        size=size,
        requests=requests,
        lanes=lanes,
        sectors=sectors,
        ideal_sectors=ideal_sectors,
        wavefronts=wavefronts,
        ideal_wavefronts=ideal_wavefronts,
        file=str(file),
        line=_count(line),
    )


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value
