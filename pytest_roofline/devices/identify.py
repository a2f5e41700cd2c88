"""Which GPUs are here, asked of the driver itself: neither torch nor CuPy is loaded for it."""

from __future__ import annotations

import ctypes
import functools
import os
from dataclasses import dataclass

from pytest_roofline.devices.record import DeviceRecord, keys, load

# CUdevice_attribute, cuda.h
_ATTRIBUTES = {
    "warp_size": 10,
    "max_registers_per_block": 12,
    "clock_khz": 13,
    "sm_count": 16,
    "memory_clock_khz": 36,
    "memory_bus_bits": 37,
    "l2_bytes": 38,
    "max_threads_per_sm": 39,
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
    status = driver.cuInit(0)
    if status:
        return _Found((), f"the NVIDIA driver does not start ({_error_name(driver, status)})")
    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    found = tuple(_describe(driver, ordinal) for ordinal in range(count.value))
    return _Found(found, "" if found else "the NVIDIA driver finds no GPU")


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


def match(name: str, sm_count: int | None = None) -> DeviceRecord | None:
    """The record of the GPU whose driver calls it ``name``; ``None`` if there is none.

    Names are compared whole, so an 80 GB card is never taken for a 40 GB one. A GPU with fewer SMs than its model (a
    MIG slice) has no record either: none of the datasheet's rates are its own.
    """
    plain = name.removeprefix("NVIDIA ").strip()
    for record in map(load, keys()):
        if plain in record.driver_names:
            return record if sm_count is None or sm_count == record.sm_count or record.sm_count is None else None
    return None


def unknown_device_help(name: str, sm_count: int | None = None) -> str:
    """What to tell the owner of a GPU without a record."""
    record = match(name)
    if record is not None:
        return (
            f"{name} has {sm_count} SMs here, its model {record.sm_count}: a MIG slice or another part, "
            "so there is no percentage of a roof"
        )
    return (
        f"{name} has no device record, so there is no percentage of a roof: add "
        "pytest_roofline/devices/records/<key>.json with its datasheet figures and their sources (docs/devices.md)"
    )


def differences(record: DeviceRecord, attributes: dict[str, int]) -> list[str]:
    """Where the driver says something else than the record, in plain words."""
    comparable = {
        "sm_count": ("sm_count", 1),
        "l2_bytes": ("l2_bytes", 1),
        "max_threads_per_sm": ("max_threads_per_sm", 1),
        "max_blocks_per_sm": ("max_blocks_per_sm", 1),
        "regs_per_sm": ("regs_per_sm", 1),
        "smem_per_sm_bytes": ("smem_per_sm_kib", 1024),
        "max_smem_per_block_bytes": ("max_smem_per_block_kib", 1024),
        "clock_khz": ("boost_mhz", 1000),
    }
    found = []
    for attribute, (field, unit) in comparable.items():
        published, driver = record.number(field), attributes.get(attribute)
        if published is not None and driver is not None and published * unit != driver:
            source = record.fields[field].source
            found.append(f"{attribute}: the driver says {driver}, the record {published * unit:.0f} ({source})")
    return found
