"""A GPU is taken for exactly the model it is."""

import subprocess
import sys

import pytest

from pytest_roofline.devices import identify
from pytest_roofline.devices.identify import Gpu, differences, match, unknown_device_help
from pytest_roofline.devices.record import load


@pytest.mark.parametrize(
    ("name", "sms", "key"),
    [
        ("NVIDIA H200", 132, "h200"),
        ("NVIDIA A100-SXM4-80GB", 108, "a100_sxm4_80gb"),
        ("NVIDIA A100-SXM4-40GB", 108, "a100_sxm4_40gb"),
        ("A100-SXM4-40GB", 108, "a100_sxm4_40gb"),
        ("NVIDIA A100 80GB PCIe", 108, "a100_pcie_80gb"),
        ("NVIDIA A100-PCIE-40GB", 108, "a100_pcie_40gb"),
        ("NVIDIA GeForce RTX 4090", 128, "rtx_4090"),
    ],
)
def test_driver_names_lead_to_records(name, sms, key):
    """With or without the maker's name in front."""
    assert match(name, sms).key == key


@pytest.mark.parametrize("name", ["NVIDIA A100", "NVIDIA H200 NVL", "NVIDIA A10G", "NVIDIA GeForce RTX 4090 D", ""])
def test_a_relative_is_not_taken_for_the_model(name):
    """Names are compared whole."""
    assert match(name) is None
    assert "docs/devices.md" in unknown_device_help(name)


def test_a_mig_slice_has_no_record():
    """98 of 108 SMs have none of the datasheet's rates, and the reader is told so."""
    assert match("NVIDIA A100-SXM4-40GB", 98) is None
    assert "98 SMs here, its model 108: a MIG slice" in unknown_device_help("NVIDIA A100-SXM4-40GB", 98)


def test_a_mig_slice_is_known_by_its_name_too():
    """CUDA puts the profile behind the model's name."""
    name = "NVIDIA H100 80GB HBM3 MIG 3g.40gb"
    assert match(name, 60) is None
    assert unknown_device_help(name, 60).startswith(f"{name} is a MIG slice")


@pytest.mark.parametrize(
    ("name", "memory_bytes", "key"),
    [
        ("NVIDIA H200", 150109880320, "h200"),
        ("NVIDIA A100-SXM4-40GB", 42505273344, "a100_sxm4_40gb"),
        ("NVIDIA A100-SXM4-40GB", 85170061312, None),
        ("NVIDIA A100-SXM4-80GB", 42505273344, None),
    ],
)
def test_the_memory_must_be_the_models(name, memory_bytes, key):
    """A datasheet's 141 GB are 150.1e9 bytes in the driver; twice or half of it is another part."""
    found = match(name, None, memory_bytes)
    assert (found.key if found else None) == key


def test_another_memory_is_told():
    """With the right name and SM count only the memory can be wrong."""
    assert "another memory than its model" in unknown_device_help("NVIDIA A100-SXM4-40GB", 108)


# What the driver (580.159) of a H200 reports.
H200 = Gpu(
    "NVIDIA H200",
    150109880320,
    {
        "max_threads_per_block": 1024,
        "warp_size": 32,
        "clock_khz": 1980000,
        "sm_count": 132,
        "pci_bus": 0,
        "pci_device": 6,
        "pci_domain": 0,
        "l2_bytes": 62914560,
        "max_threads_per_sm": 2048,
        "compute_major": 9,
        "compute_minor": 0,
        "smem_per_sm_bytes": 233472,
        "regs_per_sm": 65536,
        "max_smem_per_block_bytes": 232448,
        "max_blocks_per_sm": 32,
    },
)


def test_the_driver_may_contradict_the_record():
    """The H200's L2 is 50 MiB in the record's source and 60 MiB in the driver; all else agrees (claim simt-1)."""
    (found,) = differences(load("h200"), H200)
    assert found.startswith("l2_bytes: the driver says 62914560, the record 52428800 (")


def test_every_contradiction_is_named():
    """A H200 held against the record of an A100 differs in all that the two do not share."""
    found = {line.partition(":")[0] for line in differences(load("a100_sxm4_40gb"), H200)}
    assert found == {
        "sm_count",
        "l2_bytes",
        "smem_per_sm_bytes",
        "max_smem_per_block_bytes",
        "clock_khz",
        "compute capability",
        "memory",
    }


def test_what_the_driver_does_not_say_is_no_contradiction():
    """An old driver lacks newer attributes."""
    attributes = {"compute_major": 9, "compute_minor": 0, "warp_size": 32}
    assert differences(load("h200"), Gpu("NVIDIA H200", 150109880320, attributes)) == []


class Driver:
    """libcuda as far as it is asked: every function writes through its pointers and returns a CUresult."""

    def __init__(self, gpus=(), init=0, counted=0):
        self.gpus, self.init, self.counted = gpus, init, counted

    def cuInit(self, flags):  # noqa: N802
        return self.init

    def cuDeviceGetCount(self, count):  # noqa: N802
        count._obj.value = len(self.gpus)
        return self.counted

    def cuDeviceGet(self, device, ordinal):  # noqa: N802
        device._obj.value = ordinal
        return 0

    def cuDeviceGetName(self, name, size, device):  # noqa: N802
        name.value = self.gpus[device.value].name.encode()
        return 0

    def cuDeviceTotalMem_v2(self, memory, device):  # noqa: N802
        memory._obj.value = self.gpus[device.value].memory_bytes
        return 0

    def cuDeviceGetAttribute(self, value, number, device):  # noqa: N802
        names = {number: name for name, number in identify._ATTRIBUTES.items()}
        known = self.gpus[device.value].attributes
        if names[number] not in known:
            return 1
        value._obj.value = known[names[number]]
        return 0

    def cuGetErrorName(self, status, text):  # noqa: N802
        text._obj.value = {35: b"CUDA_ERROR_INSUFFICIENT_DRIVER"}.get(status)
        return 0


@pytest.fixture
def driver(monkeypatch):
    """Puts a driver in place of this machine's."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def install(found):
        monkeypatch.setattr(identify.ctypes, "CDLL", lambda name: found)
        identify._find.cache_clear()

    yield install
    identify._find.cache_clear()


def test_gpus_are_described_by_their_driver(driver):
    """Name, memory, attributes, compute capability and PCI id of each, in CUDA's order; what fails is left out."""
    other = Gpu("NVIDIA A30", 25_000_000_000, {"sm_count": 56, "pci_domain": 1, "pci_bus": 27, "pci_device": 0})
    driver(Driver([H200, other]))
    assert identify.gpus() == (H200, other)
    assert (identify.gpu_count(), identify.why_none()) == (2, "")
    assert (H200.compute_capability, H200.pci_id, other.pci_id) == ("9.0", "0000:00:06", "0001:1b:00")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (Driver(init=35), "the NVIDIA driver does not start (CUDA_ERROR_INSUFFICIENT_DRIVER)"),
        (Driver(init=999), "the NVIDIA driver does not start (error 999)"),
        (Driver(counted=35), "the NVIDIA driver does not start (CUDA_ERROR_INSUFFICIENT_DRIVER)"),
        (Driver(init=100), "the NVIDIA driver finds no GPU"),
        (Driver(), "the NVIDIA driver finds no GPU"),
    ],
)
def test_a_driver_without_gpu_says_why(driver, broken, reason):
    """The driver's own name of the error, or its number."""
    driver(broken)
    assert (identify.gpu_count(), identify.why_none()) == (0, reason)


def test_hidden_gpus_are_a_reason(driver, monkeypatch):
    """CUDA itself applies CUDA_VISIBLE_DEVICES; naming a GPU that is not there leaves none."""
    driver(Driver(init=100))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    assert identify.why_none() == "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES=7)"


def test_identification_loads_no_gpu_library():
    """Asking for GPUs costs neither torch nor CuPy."""
    code = (
        "import sys; from pytest_roofline.devices import identify, describe, ceilings; identify.gpu_count(); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'cupy', 'triton', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_visible_gpu_has_a_reason(monkeypatch):
    """CUDA_VISIBLE_DEVICES hides GPUs from us as from CUDA."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    identify._find.cache_clear()
    assert identify.gpu_count() == 0
    assert identify.why_none() == "CUDA_VISIBLE_DEVICES hides them all"
    identify._find.cache_clear()


def test_no_driver_is_a_reason(monkeypatch):
    """Without libcuda the message names the missing library."""

    def missing(name):
        raise OSError

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(identify.ctypes, "CDLL", missing)
    identify._find.cache_clear()
    assert "driver is not installed (libcuda.so.1 was not found)" in identify.why_none()
    identify._find.cache_clear()
