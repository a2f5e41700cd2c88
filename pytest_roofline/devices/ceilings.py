"""What a GPU measurably reaches: its own ceilings, stored with the environment they were measured in."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_roofline import cache
from pytest_roofline.contract import Pipeline
from pytest_roofline.evidence import Environment, from_plain, to_plain

SCHEMA = 1


class CeilingsError(ValueError):
    """Stored ceilings cannot be used; the message names the file and what to do."""


@dataclass(frozen=True)
class Ceilings:
    """Measured rates in base units per second, and the time of an empty kernel in a graph in seconds.

    ``copy`` is the best of several ways to copy device memory (bytes read + written), ``read`` the best of several ways
    to read it; ``how`` names the best way of each. Raises ``ValueError`` for a rate or time that is not positive.
    """

    environment: Environment
    date: str
    copy: float
    read: float
    empty_launch: float
    peaks: Mapping[str, float]
    how: Mapping[str, str]

    def __post_init__(self) -> None:
        named = {"copy": self.copy, "read": self.read, "empty_launch": self.empty_launch, **self.peaks}
        for name, value in named.items():
            if not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} is {value!r}, no positive number")

    def peak(self, pipeline: Pipeline) -> float | None:
        """Measured operations per second of a pipeline; ``None`` if it was not measured."""
        return self.peaks.get(pipeline.value)


def path_for(device: str, folder: Path | None = None) -> Path:
    """The file of a device, named after what the driver calls it."""
    slug = re.sub(r"[^a-z0-9]+", "_", device.lower()).strip("_")
    return (folder or cache.folder()) / "ceilings" / f"{slug}.json"


def save(ceilings: Ceilings, folder: Path | None = None) -> Path:
    """Write the ceilings of a device atomically; returns the file."""
    path = path_for(ceilings.environment.device, folder)
    text = json.dumps({"schema": SCHEMA, **to_plain(ceilings)}, indent=1, sort_keys=True) + "\n"
    cache.write_atomically(path, text.encode())
    return path


def read(path: Path) -> Ceilings:
    """The ceilings in a file. Raises :class:`CeilingsError` for one that cannot be read."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.pop("schema") != SCHEMA:
            raise ValueError("another schema")
        return from_plain(Ceilings, data)
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise CeilingsError(
            f"{path} is damaged ({error}): delete it or run with --roofline-ceilings=measure"
        ) from error


def load(environment: Environment, folder: Path | None = None) -> Ceilings | None:
    """The stored ceilings of this GPU under this driver; ``None`` if none were measured.

    Raises :class:`CeilingsError` for a file that cannot be read, or that another device or driver wrote.
    """
    path = path_for(environment.device, folder)
    if not path.exists():
        return None
    stored = read(path)
    for name in ("device", "driver"):
        here, there = getattr(environment, name), getattr(stored.environment, name)
        if here != there:
            raise CeilingsError(
                f"{path} was measured with {name} {there}, this is {here}: run with --roofline-ceilings=measure"
            )
    return stored
