"""A GPU is taken for exactly the model it is."""

import pytest

from pytest_roofline.devices import identify
from pytest_roofline.devices.identify import differences, match, unknown_device_help
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


def test_the_driver_may_contradict_the_record():
    """The H200's L2 is 50 MiB in the record's source and 60 MiB in the driver."""
    driver = {"sm_count": 132, "l2_bytes": 62914560, "clock_khz": 1980000, "smem_per_sm_bytes": 233472}
    (found,) = differences(load("h200"), driver)
    assert found.startswith("l2_bytes: the driver says 62914560, the record 52428800 (")


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
