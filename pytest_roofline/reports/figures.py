"""What is known of a case, from all its sources, as the figures that the diagnosis looks at. Pure.

A hardware counter of this very run comes before a count, because it was taken on this shape. Each figure keeps where it
comes from, and a figure that nobody took is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_roofline.counters import metrics
from pytest_roofline.counting import counts
from pytest_roofline.ids import CaseId
from pytest_roofline.reports.diagnosis import Figure
from pytest_roofline.runs.record import CaseRecord, CountedFigures, Device

NCU = "ncu"
WORK = "time and declared work"


def of(case: CaseRecord, device: Device) -> dict[str, Figure]:
    """Every figure known of a case, by name."""
    found = dict(_from_counts(case.counted)) if case.counted is not None else {}
    found.update(_from_time(case, device))
    found.update(_from_ncu(case.ncu))
    return found


def _from_ncu(plain: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    if not plain:
        return
    counters = metrics.from_plain(plain)
    for name, value in counters.figures.items():
        known = metrics.FIGURES.get(name)
        if known is not None:
            yield name, Figure(known.label, value, known.unit, NCU)
    for reason, share in counters.stalls.items():
        label = f"stalled, {metrics.STALLS.get(reason, reason)}"
        yield f"stall.{reason}", Figure(label, share, "%", NCU)
    if counters.stalls and "long_scoreboard" not in counters.stalls:  # shares below 1 % are not kept
        yield "stall.long_scoreboard", Figure(f"stalled, {metrics.STALLS['long_scoreboard']}", 0.0, "%", NCU)


def _from_time(case: CaseRecord, device: Device) -> Iterator[tuple[str, Figure]]:
    """Shares of DRAM and of the FP32 pipeline that follow from the time, if the declared work is what was done."""
    if case.fraction is not None:
        yield "fraction", Figure("share of the bound", 100 * case.fraction, "%", WORK)
    if case.seconds is None or case.times is None:
        return
    floor = case.times.bracket.launch_floor
    yield "launch_share", Figure("an empty launch, of its time", 100 * floor / case.seconds, "%", WORK)
    moved = [t.read + t.write for t in (*case.traffic, *case.model) if t.level == "device"]
    bandwidth = device.bandwidths.get("device")
    if moved and bandwidth:
        yield "dram_share", Figure("DRAM throughput", 100 * max(moved) / case.seconds / bandwidth, "%", WORK)
    peak, operations = device.peaks.get("fp32"), case.operations.get("fp32", 0)
    if peak and not any("tensor" in name for name in case.operations):
        yield "fma_share", Figure("FP32 pipeline", 100 * operations / case.seconds / peak, "%", WORK)


def _from_counts(counted: CountedFigures) -> Iterator[tuple[str, Figure]]:
    origin = f"counted at {counted.case.rsplit('/', 1)[-1]}, {counted.arch}"
    found = counts.from_plain(counted.counts)
    for op in ("load", "store"):
        kind = f"global {op}"
        sectors, requests = found.total(kind, lambda a: a.sectors), found.total(kind, lambda a: a.requests)
        if sectors and requests:
            yield f"{op}_sectors", Figure(f"{op} sectors", sectors, "", origin)
            used = 100 * min(1.0, found.total(kind, lambda a: a.ideal_sectors) / sectors)
            yield f"{op}_used", Figure(f"bytes used of each {op} sector", used, "%", origin)
            if not found.layout_free:  # Triton's interpreter counts a program's access as one request
                yield f"{op}_sectors_per_request", Figure(f"sectors per {op} request", sectors / requests, "", origin)
    bytes_of = [launch.unique_read + launch.unique_written for launch in found.launches]
    if any(bytes_of):
        factor = sum(bytes_of) / max(bytes_of)
        yield "kernels_traffic", Figure("bytes of all kernels over those of the largest", factor, "", origin)
    yield from _shared(found, origin)
    yield from _atomics(found, counted.case, origin)
    yield from _compiled(counted, f"compiled for {counted.arch}")


def _shared(found: counts.CaseCounts, origin: str) -> Iterator[tuple[str, Figure]]:
    kinds = [kind for kind in found.kinds() if kind.startswith("shared")]
    if found.layout_free:
        return  # Triton places shared memory itself: nothing is seen of it
    passes = sum(found.total(kind, lambda a: a.wavefronts) for kind in kinds)
    conflicts = sum(found.total(kind, lambda a: a.conflicts) for kind in kinds)
    yield "shared_passes", Figure("passes of shared memory", passes, "", origin)
    yield "shared_conflicts", Figure("passes lost to bank conflicts", conflicts, "", origin)


def _atomics(found: counts.CaseCounts, case: str, origin: str) -> Iterator[tuple[str, Figure]]:
    elements = math.prod(CaseId.parse(case).shape.dims)
    if elements:
        lanes = found.total("global atomic", lambda a: a.lanes)
        yield "atomics_per_element", Figure("global atomics per element", lanes / elements, "", origin)


def _compiled(counted: CountedFigures, origin: str) -> Iterator[tuple[str, Figure]]:
    """Of the kernel of a case that needs most: spills and registers, and the least occupancy."""
    for name, key, label, unit, pick in (
        ("spills", "spills", "spilled registers", "B per thread", max),
        ("registers", "registers", "registers per thread", "", max),
        ("possible_occupancy", "occupancy", "possible occupancy", "%", min),
    ):
        values = [float(k[key]) for k in counted.kernels if isinstance(k.get(key), int | float)]
        if values:
            value = pick(values) * (100 if name == "possible_occupancy" else 1)
            yield name, Figure(label, value, unit, origin)
