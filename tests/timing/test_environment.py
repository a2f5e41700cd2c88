"""The environment record names what a measurement depends on."""

import importlib.metadata

import pytest

from pytest_roofline.evidence import Environment, from_plain, to_plain
from pytest_roofline.timing import environment
from pytest_roofline.timing.environment import _boot_id, _version


def test_cupy_is_found_under_its_distribution_name(monkeypatch):
    """The import name ``cupy`` is installed as cupy-cuda13x, cupy-cuda12x or built from source."""
    installed = {"cupy-cuda12x": "13.6.0", "torch": "2.8.0"}

    def version(name):
        if name not in installed:
            raise importlib.metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert (_version("cupy"), _version("torch"), _version("triton")) == ("13.6.0", "2.8.0", None)


def test_a_start_of_the_machine_has_one_id():
    """Two processes of one campaign carry the same."""
    assert _boot_id() == _boot_id() != ""


@pytest.mark.usefixtures("engine")
def test_the_record_is_complete_and_survives_json():
    """Device, driver, versions, SMs and L2 are known wherever something is timed."""
    here = environment()
    assert here.device
    assert here.driver != "unknown"
    assert {"torch", "cupy", "numpy"} <= set(here.packages)
    assert here.sm_count > 0
    assert here.l2_bytes > 1 << 20
    assert from_plain(Environment, to_plain(here)) == here
