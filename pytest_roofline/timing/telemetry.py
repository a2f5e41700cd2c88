"""State of the GPU around a measurement, read through NVML."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from pytest_roofline.evidence import Telemetry
from pytest_roofline.statistics.clocks import HELD_CLOCK

T = TypeVar("T")

# nvml.h, nvmlClocksEventReasons
REASONS = {
    0x1: "GpuIdle",
    0x2: "ApplicationsClocksSetting",
    0x4: "SwPowerCap",
    0x8: "HwSlowdown",
    0x10: "SyncBoost",
    0x20: "SwThermalSlowdown",
    0x40: "HwThermalSlowdown",
    0x80: "HwPowerBrakeSlowdown",
    0x100: "DisplayClockSetting",
}
DISQUALIFYING = frozenset({"HwSlowdown", "SwThermalSlowdown", "HwThermalSlowdown", "HwPowerBrakeSlowdown"})
"""Reasons that make a sample worthless. SwPowerCap is the steady state of large GEMMs and is only recorded."""


POWER_CAP = "SwPowerCap"
SLOW_CLOCK = 0.75  # of the highest clock; below it a sample is no time of this kernel. NVBench draws the same line


def slow_clock(clock_mhz: float | None, highest_mhz: float | None, reasons: Iterable[str]) -> bool:
    """Whether the SM clock under a kernel lies far below the highest one although no power limit explains it.

    A kernel at the power limit lowers its own clock, for as long as it runs: that is its steady state.
    """
    if not clock_mhz or not highest_mhz or "SwPowerCap" in reasons:
        return False
    return clock_mhz < SLOW_CLOCK * highest_mhz


def with_clock(found: Telemetry, clock_mhz: float | None, highest_mhz: float | None) -> Telemetry:
    """The record with the SM clock under the kernel, without a power cap that did not hold this clock down.

    The driver's reason lags behind: on an H200 it was given for four of ten kernels that only read and write memory,
    at 1965 of 1980 MHz, when products ran between them.
    """
    reasons = found.throttle_reasons
    if clock_mhz and highest_mhz and clock_mhz >= HELD_CLOCK * highest_mhz:
        reasons = tuple(reason for reason in reasons if reason != POWER_CAP)
    return replace(found, clock_mhz=clock_mhz, throttle_reasons=reasons)


def decode(mask: int) -> tuple[str, ...]:
    """The names in an NVML clocks-event mask, idle left out."""
    return tuple(name for bit, name in REASONS.items() if mask & bit and name != "GpuIdle")


class Monitor:
    """Reads one GPU. ``nvml`` is the module ``pynvml``, or ``None`` where it or the driver is missing."""

    def __init__(self, nvml: Any, handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle

    def reasons(self) -> tuple[str, ...]:
        """Why the clocks are not at their maximum right now."""
        nvml = self._nvml
        if nvml is None:
            return ()
        read = getattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons", None) or getattr(
            nvml, "nvmlDeviceGetCurrentClocksThrottleReasons", None
        )
        return decode(self._try(lambda: read(self._handle)) or 0) if read else ()

    def throttled(self) -> tuple[str, ...]:
        """The reasons at hand that make a sample worthless."""
        return tuple(r for r in self.reasons() if r in DISQUALIFYING)

    def reading(self) -> tuple[int | None, int | None, float | None, int | None]:
        """SM clock and memory clock in MHz, power in W, temperature in degrees C."""
        nvml, handle = self._nvml, self._handle
        if nvml is None:
            return None, None, None, None
        sm = self._try(lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))
        memory = self._try(lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM))
        power = self._try(lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000)
        temperature = self._try(lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))
        return sm, memory, power, temperature

    def attribute(self, read: Callable[[Any, Any], Any]) -> Any:
        """``read(nvml, handle)``, or ``None`` where it is not supported."""
        return None if self._nvml is None else self._try(lambda: read(self._nvml, self._handle))

    def _try(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except self._nvml.NVMLError:
            return None


@contextlib.contextmanager
def watching(monitor: Monitor) -> Iterator[Callable[[], Telemetry]]:
    """Read before and after the body; the yielded function combines both once the body is done."""
    before, reasons = monitor.reading(), list(monitor.reasons())
    after = before

    def combine() -> Telemetry:
        return Telemetry(
            sm_clock_mhz=_pair(before[0], after[0]),
            memory_clock_mhz=_pair(before[1], after[1]),
            power_w=_pair(before[2], after[2]),
            temperature_c=_pair(before[3], after[3]),
            throttle_reasons=tuple(dict.fromkeys(reasons)),
        )

    yield combine
    after = monitor.reading()
    reasons += monitor.reasons()


def _pair(before: T | None, after: T | None) -> tuple[T, T] | None:
    return None if before is None or after is None else (before, after)


@functools.cache
def open_monitor(uuid: str) -> Monitor:
    """The monitor of the GPU with that UUID (without the ``GPU-`` in front); blind where NVML is missing."""
    try:
        import pynvml
    except ModuleNotFoundError:
        return Monitor(None, None)
    try:
        pynvml.nvmlInit()
        return Monitor(pynvml, pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}"))
    except pynvml.NVMLError:
        return Monitor(None, None)
