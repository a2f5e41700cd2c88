"""One record per GPU model: datasheet figures, each with its source. Pure.

The records are JSON files beside this module; adding a GPU is adding a file (``docs/devices.md``). Field names carry
their unit; a missing or null field is unknown and yields no percentage, never a guess.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_roofline.contract import Memory, Pipeline

FOLDER = Path(__file__).with_name("records")

_PEAKS = {
    Pipeline.FP64: "fp64_tflops",
    Pipeline.FP32: "fp32_tflops",
    Pipeline.FP16: "fp16_nontensor_tflops",
    Pipeline.BF16: "bf16_nontensor_tflops",
    Pipeline.INT32: "int32_tops",
    Pipeline.FP64_TENSOR: "fp64_tensor_tflops",
    Pipeline.TF32_TENSOR: "tf32_tensor_tflops",
    Pipeline.FP16_TENSOR: "fp16_tensor_tflops",
    Pipeline.BF16_TENSOR: "bf16_tensor_tflops",
    Pipeline.FP8_TENSOR: "fp8_tensor_tflops",
    Pipeline.INT8_TENSOR: "int8_tensor_tops",
}
# Special-function results per clock and SM: CUDA C++ Programming Guide, table "Throughput of Native Arithmetic
# Instructions", row of reciprocal, square root, base-2 logarithm and exponential, sine and cosine.
_SPECIAL_PER_CLOCK = {"7.0": 16, "7.5": 16, "8.0": 16, "8.6": 16, "8.9": 16, "9.0": 16, "10.0": 16}


class RecordError(ValueError):
    """A device record cannot be read; the message names the file and the place."""


@dataclass(frozen=True)
class Figure:
    """One published figure; ``value`` is ``None`` where the maker says nothing or the feature is missing."""

    value: Any
    source: str
    confidence: str
    note: str = ""


@dataclass(frozen=True)
class DeviceRecord:
    """A GPU model. Rates are per second in base units: operations/s, bytes/s."""

    key: str
    name: str
    driver_names: tuple[str, ...]
    fields: Mapping[str, Figure]
    notes: tuple[str, ...] = ()

    def number(self, field: str) -> float | None:
        """The figure called ``field`` in the unit its name carries; ``None`` if unknown."""
        figure = self.fields.get(field)
        return float(figure.value) if figure is not None and isinstance(figure.value, int | float) else None

    def peak(self, pipeline: Pipeline) -> float | None:
        """Operations per second of a pipeline at boost clock (an FMA counts two), dense; ``None`` if unknown."""
        if pipeline is Pipeline.SPECIAL:
            return self._special_functions()
        tera = self.number(_PEAKS[pipeline])
        return None if tera is None else tera * 1e12

    def bandwidth(self, level: Memory) -> float | None:
        """Bytes per second of a memory level; only device memory is on datasheets."""
        giga = self.number("mem_bw_gbs") if level is Memory.DEVICE else None
        return None if giga is None else giga * 1e9

    @property
    def sm_count(self) -> int | None:
        """Number of streaming multiprocessors."""
        number = self.number("sm_count")
        return None if number is None else int(number)

    @property
    def compute_capability(self) -> str:
        """Such as ``"9.0"``; empty if unknown."""
        figure = self.fields.get("compute_capability")
        return str(figure.value) if figure is not None and figure.value is not None else ""

    def _special_functions(self) -> float | None:
        """Derived: results per clock and SM x SMs x boost clock."""
        per_clock, sms, mhz = _SPECIAL_PER_CLOCK.get(self.compute_capability), self.sm_count, self.number("boost_mhz")
        return per_clock * sms * mhz * 1e6 if per_clock and sms and mhz else None


def keys() -> tuple[str, ...]:
    """The keys of all records, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


@functools.cache
def load(key: str) -> DeviceRecord:
    """The record called ``key``. Raises :class:`RecordError` for an unknown key (listing the known) or a bad file."""
    if key not in keys():
        raise RecordError(f"no device record {key!r}; known are {', '.join(keys())}")
    return read(FOLDER / f"{key}.json")


def read(path: Path) -> DeviceRecord:
    """Read one record file. Raises :class:`RecordError` naming the file and what is wrong in it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise RecordError(f"{path}: no JSON at line {error.lineno}: {error.msg}") from error
    try:
        if data["key"] != path.stem:
            raise RecordError(f"{path}: its key is {data['key']!r}, it must be the file's name")
        fields = {name: _figure(path, name, figure) for name, figure in data["fields"].items()}
        return DeviceRecord(data["key"], data["name"], tuple(data["driver_names"]), fields, tuple(data["notes"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{path}: no device record: {type(error).__name__} {error}") from error


def _figure(path: Path, name: str, data: Mapping[str, Any]) -> Figure:
    if not data.get("source"):
        raise RecordError(f"{path}: {name} has no source")
    return Figure(data["value"], data["source"], data["confidence"], data.get("note", ""))
