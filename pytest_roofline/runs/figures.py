"""Counted figures of a case as plain numbers by name: what its kernels do to memory and what they compile to. Pure.

All are totals over one execution, except what one SM must provide, where the most demanding kernel counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytest_roofline.counting import counts
from pytest_roofline.counting.counts import Access, CaseCounts
from pytest_roofline.runs.record import CountedFigures

_SUMMED: Mapping[str, Callable[[Access], int]] = {
    "requests": lambda access: access.requests,
    "sectors": lambda access: access.sectors,
    "ideal_sectors": lambda access: access.ideal_sectors,
    "conflicts": lambda access: access.conflicts,
}
_LARGEST = ("registers", "stack", "shared", "dynamic", "barriers")
NAMES = (
    "launches",
    "bytes_read",
    "bytes_written",
    *_SUMMED,
    *_LARGEST,
    "spills",
    "instructions",
    "occupancy",
)
"""Every figure there may be; more is worse in all but ``occupancy``."""


def figures(counted: CountedFigures | None) -> dict[str, float]:
    """The figures that are known, by name. Raises ``ValueError`` for counts that are none."""
    if counted is None:
        return {}
    found = counts.from_plain(counted.counts)
    memory = {"launches": len(counted.launched)} if found.uncounted else _from_counts(found)
    return {**memory, **_from_code(counted.kernels)}


def _from_counts(found: CaseCounts) -> dict[str, float]:
    accesses = [access for launch in found.launches for access in launch.accesses]
    return {
        "launches": len(found.launches),
        "bytes_read": sum(launch.unique_read for launch in found.launches),
        "bytes_written": sum(launch.unique_written for launch in found.launches),
        **{name: sum(map(figure, accesses)) for name, figure in _SUMMED.items()},
    }


def _from_code(kernels: tuple[Mapping[str, Any], ...]) -> dict[str, float]:
    if not kernels:
        return {}
    return {
        **{name: max(_number(kernel, name) for kernel in kernels) for name in _LARGEST},
        "spills": sum(_number(kernel, "spills") for kernel in kernels),
        "instructions": sum(_number(kernel.get("mix") or {}, "instructions") for kernel in kernels),
        "occupancy": min(_number(kernel, "occupancy") for kernel in kernels),
    }


def _number(data: Any, name: str) -> float:
    value = data.get(name, 0) if isinstance(data, Mapping) else 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} is {value!r}, no number")
    return value
