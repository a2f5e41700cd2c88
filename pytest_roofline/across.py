"""One case on two devices: each time as a share of its own device's bound, and what one lets expect of the other. Pure.

A share of the own bound is the only figure that two devices have in common; a time on one says nothing about a time on
the other. Measured and published figures stand side by side and are never given a verdict.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_roofline.contract import Memory, Work
from pytest_roofline.devices.record import DeviceRecord
from pytest_roofline.roofline import Assessment

TRUSTED = 0.15  # largest typical error at which a family's estimates are shown
ENOUGH = 3  # pairs without which an error is no more than an anecdote
BRIEF = 20e-6  # seconds: events around a call, which is how figures are published, hold a launch as well
OUTSIDE = 4  # working sets this many times the larger L2 find nothing of theirs in it, warm or cold


class Caveat(enum.Enum):
    """Why two shares may not mean the same."""

    CACHED = "fits into a cache, which is cold here and may have been warm there"
    BRIEF = "so short that launching it weighs"


@dataclass(frozen=True)
class Side:
    """A time on a device: ``bound`` is the datasheet's for this case there, ``seconds`` the time, measured or
    published."""

    device: str
    seconds: float
    bound: float

    @property
    def share(self) -> float:
        """Fraction of the device's own bound."""
        return self.bound / self.seconds


@dataclass(frozen=True)
class Pair:
    """One case ``here``, measured, and ``there``, as published with its ``method`` and ``source``."""

    case: str
    here: Side
    there: Side
    caveats: tuple[Caveat, ...]
    method: str
    source: str

    @property
    def family(self) -> str:
        """The operation: what is alike enough for one kernel's share to say something about another's."""
        return self.case.split("/", 1)[0]

    @property
    def expected(self) -> float:
        """Seconds there if the kernel reached the same share of that device's bound as it does here."""
        return self.there.bound / self.here.share

    @property
    def error(self) -> float:
        """Expected over published, as a logarithm: 0 is right, 0.1 is 10 % too slow."""
        return math.log(self.expected / self.there.seconds)


@dataclass(frozen=True)
class Trust:
    """How well a family's expectations matched what was published: root mean square and worst of ``Pair.error``."""

    family: str
    pairs: int
    typical: float
    worst: float

    @property
    def given(self) -> bool:
        """Whether an estimate of another case of this family may be shown."""
        return self.pairs >= ENOUGH and self.typical <= TRUSTED


def side(device: str, seconds: float, assessment: Assessment) -> Side | None:
    """A time beside its bound; ``None`` where the device has no complete bound for the case."""
    limit = assessment.algorithm
    if limit is None or not limit.complete or not limit.seconds > 0 or not seconds > 0:
        return None
    return Side(device, seconds, limit.seconds)


def caveats(work: Work, seconds: Sequence[float], devices: Sequence[DeviceRecord]) -> tuple[Caveat, ...]:
    """What keeps the two times of a case from being comparable, by its size and their length."""
    found = []
    caches = [size for device in devices if (size := device.number("l2_bytes")) is not None]
    if work.traffic.level is Memory.DEVICE and caches and work.traffic.total < OUTSIDE * max(caches):
        # A product reads each byte many times, and the first reading is a small part of its time: no cache helps it.
        bytes_per_operation = work.traffic.total / max(1, sum(work.operations.values()))
        if bytes_per_operation > 0.1:
            found.append(Caveat.CACHED)
    if min(seconds) < BRIEF:
        found.append(Caveat.BRIEF)
    return tuple(found)


def trust(pairs: Iterable[Pair]) -> dict[str, Trust]:
    """By family, from its pairs without a caveat; a family that has only others is listed with none."""
    families: dict[str, list[float]] = {}
    for pair in pairs:
        errors = families.setdefault(pair.family, [])
        if not pair.caveats:
            errors.append(pair.error)
    return {family: _trust(family, errors) for family, errors in families.items()}


def estimate(here: Side, bound_there: float, found: Trust | None) -> float | None:
    """Derived seconds on the other device; ``None`` for a family whose error is unknown or too large."""
    return bound_there / here.share if found is not None and found.given else None


def _trust(family: str, errors: list[float]) -> Trust:
    if not errors:
        return Trust(family, 0, math.inf, math.inf)
    typical = math.sqrt(sum(e * e for e in errors) / len(errors))
    return Trust(family, len(errors), typical, max(errors, key=abs))
