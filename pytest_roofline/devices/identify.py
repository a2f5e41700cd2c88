"""Which GPUs are here, asked of the driver itself: neither torch nor CuPy is loaded for it."""

from __future__ import annotations

import ctypes
import functools
import os
from dataclasses import dataclass

from pytest_roofline.devices.record import DeviceRecord, all_records

_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE, cuda.h

# CUdevice_attribute, cuda.h
_ATTRIBUTES = {
    "max_threads_per_block": 1,
    "warp_size": 10,
    "max_registers_per_block": 12,
    "clock_khz": 13,
    "sm_count": 16,
    "pci_bus": 33,
    "pci_device": 34,
    "memory_clock_khz": 36,
    "memory_bus_bits": 37,
    "l2_bytes": 38,
    "max_threads_per_sm": 39,
    "pci_domain": 50,
    "compute_major": 75,
    "compute_minor": 76,
    "smem_per_sm_bytes": 81,
    "regs_per_sm": 82,
    "max_smem_per_block_bytes": 97,
    "max_blocks_per_sm": 106,
}


@dataclass(frozen=True)
class Gpu:
    """One GPU as its driver describes it."""

    name: str
    memory_bytes: int
    attributes: dict[str, int]

    @property
    def compute_capability(self) -> str:
        """Such as ``"9.0"``."""
        return f"{self.attributes.get('compute_major', 0)}.{self.attributes.get('compute_minor', 0)}"

    @property
    def pci_id(self) -> str:
        """Where it sits, as ``nvidia-smi`` writes it without the function: ``0000:1b:00``."""
        domain, bus, device = (self.attributes.get(f"pci_{part}", 0) for part in ("domain", "bus", "device"))
        return f"{domain:04x}:{bus:02x}:{device:02x}"


@dataclass(frozen=True)
class _Found:
    gpus: tuple[Gpu, ...]
    problem: str


def gpu_count() -> int:
    """Number of GPUs that this process can use; 0 without a driver."""
    return len(_find().gpus)


def gpus() -> tuple[Gpu, ...]:
    """The GPUs that this process can use, in CUDA's order."""
    return _find().gpus


def why_none() -> str:
    """Why there is no GPU; empty if there is one."""
    return _find().problem


@functools.cache
def _find() -> _Found:
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return _Found((), "CUDA_VISIBLE_DEVICES hides them all")
    name = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
    try:
        driver = ctypes.CDLL(name)
    except OSError:
        return _Found((), f"the NVIDIA driver is not installed ({name} was not found)")
    count = ctypes.c_int()
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if status not in (0, _NO_DEVICE):
        return _Found((), f"the NVIDIA driver does not start ({_error_name(driver, status)})")
    if not count.value:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        return _Found((), "the NVIDIA driver finds no GPU" + (f" (CUDA_VISIBLE_DEVICES={visible})" if visible else ""))
    return _Found(tuple(_describe(driver, ordinal) for ordinal in range(count.value)), "")


def _describe(driver: ctypes.CDLL, ordinal: int) -> Gpu:
    device, value, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
    name = ctypes.create_string_buffer(256)
    driver.cuDeviceGet(ctypes.byref(device), ordinal)
    driver.cuDeviceGetName(name, len(name), device)
    driver.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    attributes = {}
    for attribute, number in _ATTRIBUTES.items():
        if driver.cuDeviceGetAttribute(ctypes.byref(value), number, device) == 0:
            attributes[attribute] = value.value
    return Gpu(name.value.decode(), memory.value, attributes)


def _error_name(driver: ctypes.CDLL, status: int) -> str:
    text = ctypes.c_char_p()
    driver.cuGetErrorName(status, ctypes.byref(text))
    return text.value.decode() if text.value else f"error {status}"


def match(name: str, sm_count: int | None = None, memory_bytes: int | None = None) -> DeviceRecord | None:
    """The record of the GPU whose driver calls it ``name``; ``None`` if there is none.

    Names are compared whole, so an 80 GB card is never taken for a 40 GB one. A GPU with fewer SMs or another memory
    than its model (a MIG slice) has no record either: none of the datasheet's rates are its own.
    """
    record = _named(name)
    if record is None or _differ(record.sm_count, sm_count):
        return None
    return record if memory_bytes is None or _same_memory(record, memory_bytes) else None


def unknown_device_help(name: str, sm_count: int | None = None) -> str:
    """What to tell the owner of a GPU without a record."""
    record = _named(name)
    if record is not None and _differ(record.sm_count, sm_count):
        return (
            f"{name} has {sm_count} SMs here, its model {record.sm_count}: a MIG slice or another part, "
            "so there is no percentage of a roof"
        )
    if record is not None:
        return f"{name} has another memory than its model, so there is no percentage of a roof"
    if " MIG " in name:
        return f"{name} is a MIG slice: its model's rates are not its own, so there is no percentage of a roof"
    return (
        f"{name} has no device record, so there is no percentage of a roof: add "
        "pytest_roofline/devices/records/<key>.json with its datasheet figures and their sources (docs/devices.md)"
    )


def differences(record: DeviceRecord, gpu: Gpu) -> list[str]:
    """Where the driver says something else than the record, in plain words."""
    driver = gpu.attributes
    pairs = {
        "sm_count": ("sm_count", 1, driver.get("sm_count")),
        "l2_bytes": ("l2_bytes", 1, driver.get("l2_bytes")),
        "max_threads_per_sm": ("max_threads_per_sm", 1, driver.get("max_threads_per_sm")),
        "max_warps_per_sm": ("max_warps_per_sm", 1, _warps(driver)),
        "max_blocks_per_sm": ("max_blocks_per_sm", 1, driver.get("max_blocks_per_sm")),
        "regs_per_sm": ("regs_per_sm", 1, driver.get("regs_per_sm")),
        "smem_per_sm_bytes": ("smem_per_sm_kib", 1024, driver.get("smem_per_sm_bytes")),
        "max_smem_per_block_bytes": ("max_smem_per_block_kib", 1024, driver.get("max_smem_per_block_bytes")),
        "clock_khz": ("boost_mhz", 1000, driver.get("clock_khz")),
    }
    found = []
    for what, (field, unit, says) in pairs.items():
        published = record.number(field)
        if published is not None and _differ(published * unit, says):
            source = record.fields[field].source
            found.append(f"{what}: the driver says {says}, the record {published * unit:.0f} ({source})")
    if record.compute_capability and record.compute_capability != gpu.compute_capability:
        found.append(
            f"compute capability: the driver says {gpu.compute_capability}, the record {record.compute_capability}"
        )
    if not _same_memory(record, gpu.memory_bytes):
        size = record.number("mem_size_gb")
        found.append(f"memory: the driver says {gpu.memory_bytes / 1e9:.1f} GB, the record {size:g}")
    return found


def _named(name: str) -> DeviceRecord | None:
    plain = name.removeprefix("NVIDIA ").strip()
    return next((record for record in all_records() if plain in record.driver_names), None)


def _differ(one: float | None, other: float | None) -> bool:
    """Whether both are known and unequal."""
    return one is not None and other is not None and one != other


def _same_memory(record: DeviceRecord, memory_bytes: int) -> bool:
    """Datasheets round, mean GB or GiB, and ECC takes a part: 40 GB are 42.4e9 bytes here, 24 GB 24.1e9 there."""
    size = record.number("mem_size_gb")
    return size is None or 0.9 < memory_bytes / (size * 1e9) < 1.15


def _warps(driver: dict[str, int]) -> int | None:
    threads, warp = driver.get("max_threads_per_sm"), driver.get("warp_size")
    return threads // warp if threads and warp else None
