"""The environment record of this process: what a measurement depends on."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
from pathlib import Path

from pytest_roofline.evidence import Environment
from pytest_roofline.timing.telemetry import Monitor, open_monitor

PACKAGES = ("torch", "triton", "cupy", "numpy", "pytest-benchmark")
_CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy")


def environment() -> Environment:
    """The record of the current GPU, its driver and the packages at hand. Needs a GPU."""
    import torch

    return _of(torch.cuda.current_device())


@functools.cache
def _of(device: int) -> Environment:
    import torch

    properties = torch.cuda.get_device_properties(device)
    monitor = open_monitor(str(properties.uuid))
    limit = monitor.attribute(lambda nvml, gpu: nvml.nvmlDeviceGetPowerManagementLimit(gpu) / 1000)
    return Environment(
        device=properties.name,
        driver=str(monitor.attribute(lambda nvml, gpu: nvml.nvmlSystemGetDriverVersion()) or "unknown"),
        cuda=str(torch.version.cuda),
        python=platform.python_version(),
        packages={name: version for name in PACKAGES if (version := _version(name))},
        sm_count=properties.multi_processor_count,
        l2_bytes=properties.L2_cache_size,
        ecc=_switch(monitor, "nvmlDeviceGetEccMode"),
        mig=_switch(monitor, "nvmlDeviceGetMigMode"),
        power_limit_w=limit,
        max_sm_clock_mhz=monitor.attribute(lambda nvml, gpu: nvml.nvmlDeviceGetMaxClockInfo(gpu, nvml.NVML_CLOCK_SM)),
        machine=_boot_id(),
        gpu=str(properties.uuid),
    )


def _switch(monitor: Monitor, name: str) -> bool | None:
    modes = monitor.attribute(lambda nvml, gpu: getattr(nvml, name)(gpu))
    return None if modes is None else bool(modes[0])


def _version(name: str) -> str | None:
    for distribution in _CUPY if name == "cupy" else (name,):
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def _boot_id() -> str:
    """Linux's id of this start of the machine; elsewhere the host name."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return platform.node()
