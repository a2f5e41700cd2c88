"""The roofline: how fast a case could be on a device, and how far a measured time is from that. Pure.

Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009: attainable
performance = min(peak, bandwidth x arithmetic intensity). Written in time, the bound is the largest of the times that
each memory level needs for its bytes and each pipeline for its operations.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pytest_roofline.contract import Memory, Pipeline, Traffic, Work
from pytest_roofline.devices.ceilings import Ceilings
from pytest_roofline.devices.record import DeviceRecord


class Regime(enum.Enum):
    """What limits a case at its bound."""

    MEMORY = "memory"
    COMPUTE = "compute"
    OVERHEAD = "overhead"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Limit:
    """The largest of the times a device needs at least, and what needs it (``device``, ``fp32`` …).

    ``complete`` is false where a pipeline of unknown rate might need longer still: then nothing is a share of it,
    though a shorter time remains impossible.
    """

    seconds: float
    by: str
    regime: Regime
    complete: bool = True


@dataclass(frozen=True)
class Rates:
    """What a time means for given work: bytes/s over device memory and operations/s."""

    bytes_per_second: float
    operations_per_second: float


@dataclass(frozen=True)
class Assessment:
    """A case on a device.

    ``problem`` is the bound of the problem (each input once), ``algorithm`` that of the kernel's own traffic model,
    both from the datasheet; ``ceiling`` is the algorithm's bound under measured ceilings (for pipelines that were not
    measured, the datasheet's). Each is ``None`` where the rate of device memory is unknown. ``regime`` is ``OVERHEAD``
    when the bound is shorter than an empty launch, so that no kernel could come near it, and ``UNKNOWN`` without a
    complete bound.
    """

    problem: Limit | None
    algorithm: Limit | None
    ceiling: Limit | None
    regime: Regime
    intensity: float

    def fraction(self, seconds: float) -> float | None:
        """Share of the datasheet bound of the algorithm that a time reaches; ``None`` without a bound."""
        return _share(self.algorithm, seconds)

    def fraction_of_ceiling(self, seconds: float) -> float | None:
        """Share of the measured ceiling that a time reaches; ``None`` without one."""
        return _share(self.ceiling, seconds)

    def impossible(self, seconds: float) -> bool:
        """Faster than the datasheet allows: the kernel does less than it claims, or its data came from a cache."""
        return self.algorithm is not None and 0 < seconds < self.algorithm.seconds


def rates(work: Work, seconds: float) -> Rates:
    """Turn counts into rates; the only place that does. Raises ``ValueError`` for a time that is not positive."""
    if not seconds > 0:
        raise ValueError(f"a time must be positive, got {seconds}")
    return Rates(work.traffic.total / seconds, sum(work.operations.values()) / seconds)


def intensity(work: Work) -> float:
    """Arithmetic intensity in operations per byte of compulsory device traffic (infinite without traffic)."""
    operations = sum(work.operations.values())
    return operations / work.traffic.total if work.traffic.total else math.inf if operations else 0.0


def ridge(peak: float, bandwidth: float) -> float:
    """Arithmetic intensity (operations per byte) above which ``peak`` (1/s) limits instead of ``bandwidth`` (B/s)."""
    return peak / bandwidth


def assess(
    work: Work,
    model: Sequence[Traffic] = (),
    record: DeviceRecord | None = None,
    ceilings: Ceilings | None = None,
    launch_floor: float | None = None,
) -> Assessment:
    """Bound a case on a device; ``launch_floor`` is the measured time of an empty launch in seconds."""
    problem = algorithm = ceiling = None
    if record is not None:
        problem = _limit(work, (work.traffic,), record)
        # What a level cannot be judged by, having no published roof, does not tighten the bound.
        known = [t for t in model if record.bandwidth(t.level) is not None]
        algorithm = _limit(work, (work.traffic, *known), record)
    if ceilings is not None:
        ceiling = _measured_limit(work, model, ceilings, record)
    floor = launch_floor if launch_floor is not None else (ceilings.empty_launch if ceilings else None)
    basis = algorithm or ceiling
    regime = basis.regime if basis and basis.complete else Regime.UNKNOWN
    if basis and basis.complete and floor is not None and basis.seconds < floor:
        regime = Regime.OVERHEAD
    return Assessment(problem, algorithm, ceiling, regime, intensity(work))


def cached_limit(work: Work, record: DeviceRecord) -> Limit | None:
    """The bound where everything is in L2 already: ``None`` if it does not fit, or without a published rate of L2.

    Device memory has nothing to do then; each byte crosses L2 once. Raises nothing.
    """
    size = record.number("l2_bytes")
    if work.traffic.level is not Memory.DEVICE or size is None or work.traffic.total > size:
        return None
    return _limit(work, (replace(work.traffic, level=Memory.L2),), record)


def tile_quantisation(extents: Sequence[int], tile: Sequence[int]) -> float:
    """Launched over useful work when ``tile`` covers ``extents``: 65 x 65 by 32 x 32 is 96^2 / 65^2 = 2.18."""
    useful = math.prod(extents)
    launched = math.prod(math.ceil(e / t) * t for e, t in zip(extents, tile, strict=True))
    return launched / useful if useful else 1.0


def wave_quantisation(blocks: int, sm_count: int, blocks_per_sm: int = 1) -> float:
    """Time over ideal time when ``blocks`` run in whole waves of ``sm_count * blocks_per_sm``."""
    slots = sm_count * blocks_per_sm
    return math.ceil(blocks / slots) * slots / blocks if blocks else 1.0


def _limit(work: Work, traffic: Sequence[Traffic], record: DeviceRecord) -> Limit | None:
    limits = []
    for item in traffic:
        roof = record.bandwidth(item.level)
        if roof is None:
            return None
        limits.append(Limit(_crossing(item) / roof, item.level.value, Regime.MEMORY))
    return _longest(limits, work, record.peak)


def _crossing(traffic: Traffic) -> int:
    """Bytes in the busier direction where both have lanes of their own, in both where they share them."""
    return max(traffic.read, traffic.write) if traffic.level in (Memory.HOST, Memory.L2) else traffic.total


def _measured_limit(
    work: Work, model: Sequence[Traffic], ceilings: Ceilings, record: DeviceRecord | None
) -> Limit | None:
    if work.traffic.level is not Memory.DEVICE:
        return None  # neither the copy's nor the read rate is that level's
    limits = []
    for item in (work.traffic, *(t for t in model if t.level is Memory.DEVICE)):
        # What is read and written in equal parts moves at the copy's rate, what is only read at the read rate.
        paired = 2 * min(item.read, item.write)
        seconds = paired / ceilings.copy + (item.total - paired) / (
            ceilings.read if item.read > item.write else ceilings.copy
        )
        limits.append(Limit(seconds, item.level.value, Regime.MEMORY))

    def peak(pipeline: Pipeline) -> float | None:
        return ceilings.peak(pipeline) or (record.peak(pipeline) if record else None)

    return _longest(limits, work, peak)


def _longest(memory: Sequence[Limit], work: Work, peak: Callable[[Pipeline], float | None]) -> Limit:
    """The longest of the times of memory and of the pipelines of known rate.

    What an unknown pipeline has to do is held against the slowest rate known of the device: if even that is quick
    enough not to matter, the bound is complete.
    """
    known = {pipeline: rate for pipeline in Pipeline if (rate := peak(pipeline)) is not None}
    arithmetic = [
        Limit(operations / known[pipeline], pipeline.value, Regime.COMPUTE)
        for pipeline, operations in work.operations.items()
        if pipeline in known
    ]
    longest = max([*memory, *arithmetic], key=lambda limit: limit.seconds)
    unknown = sum(operations for pipeline, operations in work.operations.items() if pipeline not in known)
    slowest = min(known.values(), default=0.0)
    return replace(longest, complete=unknown <= longest.seconds * slowest)


def _share(limit: Limit | None, seconds: float) -> float | None:
    return limit.seconds / seconds if limit is not None and limit.complete and seconds > 0 else None
