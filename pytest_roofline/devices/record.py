"""One record per GPU model: datasheet figures, each with its source. Pure.

The records are JSON files beside this module; adding a GPU is adding a file (``docs/devices.md``). Field names carry
their unit; a missing or null field is unknown and yields no percentage, never a guess.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_roofline.contract import Memory, Pipeline
from pytest_roofline.devices.throughput import derive, derive_bandwidth

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
# The field, and its unit in bytes per second: half a GB/s for a link, printed with both directions; per MHz for L2.
_BANDWIDTHS = {
    Memory.DEVICE: ("mem_bw_gbs", 1e9),
    Memory.HOST: ("host_link_gbs", 1e9 / 2),
    Memory.L2: ("l2_bytes_per_clock", 1e6),
}
_NUMBERS = frozenset(_PEAKS.values()) | {
    "boost_mhz",
    "fp32_cores_per_sm",
    "fp64_cores_per_sm",
    "host_link_gbs",
    "int4_tensor_tops",
    "l1_plus_smem_kib",
    "l2_bytes",
    "l2_bytes_per_clock",
    "max_blocks_per_sm",
    "max_smem_per_block_kib",
    "max_threads_per_sm",
    "max_warps_per_sm",
    "mem_bw_gbs",
    "mem_clock_mhz",
    "mem_size_gb",
    "nvlink_gbs",
    "regs_per_sm",
    "sm_count",
    "smem_per_sm_kib",
    "tdp_w",
    "tensor_cores_per_sm",
}
_TEXTS = frozenset({"compute_capability", "pcie"})
_RANGE = re.compile(r"[\d.]+(-| or )[\d.]+")


class RecordError(ValueError):
    """A device record cannot be read; the message names the file and the place."""


@dataclass(frozen=True)
class Figure:
    """One figure and where it comes from. ``value`` is ``None`` where it is unknown or, with ``supported`` false, where
    the device lacks the feature."""

    value: Any
    source: str
    confidence: str
    note: str = ""
    supported: bool = True
    derived: bool = False


_UNKNOWN = Figure(None, "no source in the record", "n/a")


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
        """Operations per second of a pipeline at boost clock (an FMA counts two), dense; ``None`` if unknown or
        missing in hardware."""
        value = self.peak_figure(pipeline).value
        return None if value is None else float(value)

    def peak_figure(self, pipeline: Pipeline) -> Figure:
        """The peak in operations per second with its source; derived from the clock where no datasheet gives it."""
        field = _PEAKS.get(pipeline)
        published = self.fields.get(field, _UNKNOWN) if field else _UNKNOWN
        tera = self.number(field) if field else None
        if tera is not None:
            return Figure(tera * 1e12, published.source, published.confidence, published.note)
        found = derive(pipeline, self.compute_capability, self.sm_count, self.number("boost_mhz"))
        if published.supported and found is not None:
            return Figure(found.rate, found.formula, "derived", derived=True)
        return Figure(None, published.source, published.confidence, published.note, published.supported)

    def bandwidth(self, level: Memory) -> float | None:
        """Bytes per second of a memory level, of the link to the host in one direction; ``None`` if unknown."""
        value = self.bandwidth_figure(level).value
        return None if value is None else float(value)

    def bandwidth_figure(self, level: Memory) -> Figure:
        """The same with its source. Datasheets have device memory and the link; registers and shared memory follow
        from the clock, the read bandwidth of L2 where its width is published."""
        if level in _BANDWIDTHS:
            field, unit = _BANDWIDTHS[level]
            published, value = self.fields.get(field, _UNKNOWN), self.number(field)
            rate = None if value is None else value * unit
            if level is Memory.L2 and rate is not None:
                clock = self.number("boost_mhz")
                formula = f"derived: {value:g} bytes per clock ({published.source}) x {clock} MHz"
                return Figure(clock and rate * clock, formula, "derived", derived=True)
            return Figure(rate, published.source, published.confidence, published.note, published.supported)
        found = derive_bandwidth(
            level, self.compute_capability, self.sm_count, self.number("boost_mhz"), self.peak(Pipeline.FP32)
        )
        return Figure(found.rate, found.formula, "derived", derived=True) if found else _UNKNOWN

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


def keys() -> tuple[str, ...]:
    """The keys of all records, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


@functools.cache
def load(key: str) -> DeviceRecord:
    """The record called ``key``. Raises :class:`RecordError` for an unknown key (listing the known) or a bad file."""
    if key not in keys():
        raise RecordError(f"no device record {key!r}; known are {', '.join(keys())}")
    return read(FOLDER / f"{key}.json")


def all_records() -> tuple[DeviceRecord, ...]:
    """Every record, by key. Raises :class:`RecordError` for a bad file."""
    return tuple(map(load, keys()))


def read(path: Path) -> DeviceRecord:
    """Read one record file. Raises :class:`RecordError` naming the file and what is wrong in it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise RecordError(f"{path}: no JSON at line {error.lineno}: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: no UTF-8 text: {error}") from error
    try:
        if data["key"] != path.stem:
            raise RecordError(f"{path}: its key is {data['key']!r}, it must be the file's name")
        for name in ("driver_names", "notes"):
            if not isinstance(data[name], list):
                raise RecordError(f"{path}: {name} must be a list")
        fields = {name: _figure(path, name, figure) for name, figure in data["fields"].items()}
        return DeviceRecord(data["key"], data["name"], tuple(data["driver_names"]), fields, tuple(data["notes"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{path}: no device record: {type(error).__name__} {error}") from error


def _figure(path: Path, name: str, data: Mapping[str, Any]) -> Figure:
    """One field. A misspelt name or a figure in quotes would silently mean "unknown", so both are refused."""
    if name not in _NUMBERS | _TEXTS:
        raise RecordError(f"{path}: no field is called {name}; known are {', '.join(sorted(_NUMBERS | _TEXTS))}")
    if not data.get("source"):
        raise RecordError(f"{path}: {name} has no source")
    value, supported = data["value"], data.get("supported", True)
    if value is not None and not (supported and (_is_text(value) if name in _TEXTS else _is_number(value))):
        raise RecordError(f"{path}: {name} is {value!r}: expected a positive number, a range such as '7-8', or null")
    return Figure(value, data["source"], data["confidence"], data.get("note", ""), supported)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_number(value: Any) -> bool:
    """A positive number, or a range where the sources disagree."""
    if isinstance(value, str):
        return bool(_RANGE.fullmatch(value))
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
